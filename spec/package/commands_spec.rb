# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'tmpdir'

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

  ['rubocop', 'make -C ext/core', 'shellcheck'].each do |command|
    it "fails a stage in which #{command} fails, first or last (it used to heed the last only)" do
      output, status = run_style(root, command)
      expect(output).to match(/^  style +FAILED /)
      expect(status).not_to be_success
    end
  end
end
