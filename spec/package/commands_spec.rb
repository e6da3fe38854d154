# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'tmpdir'
require_relative '../support/packages'

RSpec.describe 'bin/setup' do
  it 'makes `bundle exec` find the gems that it installed, in a fresh clone (bin/ alone found them)' do
    Dir.mktmpdir do |clone|
      FileUtils.cp_r(%w[bin Gemfile].map { |name| File.join(Packages::ROOT, name) }, clone)
      File.write(File.join(clone, 'Rakefile'), "require 'rake/extensiontask'\ntask(:compile) { puts 'built' }\n")
      Packages.run('bin/setup', 'demo', folder: clone, environment: { 'SIMPKV_GEMS' => Bundler.settings[:path] })
      without = { 'BUNDLE_WITHOUT' => 'test:lint', 'HOME' => clone }
      said = Packages.run('bundle', 'exec', 'rake', 'compile', folder: clone, environment: without)
      expect(said).to end_with("built\n")
    end
  end
end

RSpec.describe 'bin/test' do
  root = File.expand_path('../..', __dir__)

  # Runs it with commands of our own for those that a stage calls: each succeeds, unless its arguments match.
  def run_style(root, failing)
    Dir.mktmpdir do |folder|
      %w[bundle make shellcheck].each do |name|
        file = File.join(folder, name)
        File.write(file, "#!/bin/sh\ncase \"#{name} $*\" in *\"#{failing}\"*) exit 1 ;; esac\n")
        FileUtils.chmod(0o755, file)
      end
      Open3.capture2e({ 'PATH' => "#{folder}:#{ENV.fetch('PATH')}" }, File.join(root, 'bin/test'), 'style')
    end
  end

  it 'says that a stage is ok when all of its commands succeed' do
    output, status = run_style(root, 'nothing of the kind')
    expect(output).to match(/^  style +ok /)
    expect(status).to be_success
  end

  ['rubocop', '-C ext/core', 'shellcheck'].each do |command|
    it "fails a stage in which #{command} fails, first or last (it used to heed the last only)" do
      output, status = run_style(root, command)
      expect(output).to match(/^  style +FAILED /)
      expect(status).not_to be_success
    end
  end
end
