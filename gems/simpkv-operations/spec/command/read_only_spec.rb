# frozen_string_literal: true

require 'etc'
require 'fileutils'
require 'simpkv/cli'
require_relative '../../../../spec/support/command'
require_relative '../../../../spec/support/processes'

# Each command runs in a child process, as a user that can read the store but cannot write it. Reading commands used to
# fail with "Cannot access root path".
RSpec.describe 'simpkv, for a user without write permission' do
  include_context 'with the command'
  include Processes

  let(:root) { File.join(folder, 'keys') }
  let(:reading) do
    [%w[get app1/key], %w[ls app1], %w[tree], %w[exists app1/key], %w[find key], %w[ping], %w[doctor --read-only],
     %w[export], %w[explain app1/key]]
  end

  before do
    simpkv!('put', 'app1/key', 'value')
    # Loads the files of the commands now, because the user nobody cannot read every checkout.
    [*reading, %w[put app1/key value], %w[rm app1/none]].each { |words| simpkv(*words) }
    Dir.glob("#{root}/**/*").each { |path| File.chmod(File.directory?(path) ? 0o555 : 0o444, path) }
    File.chmod(0o555, root)
    File.chmod(0o755, folder)
  end

  after { FileUtils.chmod_R('u+rwx', root) }

  it 'reads' do
    as_nobody do
      outcomes = reading.to_h { |words| [words.join(' '), simpkv(*words)] }
      failures = outcomes.reject { |_, outcome| outcome.code.zero? }
      warn failures unless failures.empty?
      failures.empty? && outcomes['get app1/key'].out == 'value' && outcomes['export'].err.include?('1 key exported')
    end
  end

  it 'names the missing permission if a command writes' do
    as_nobody do
      put, rm = [%w[put app1/key other], %w[rm app1/key]].map { |words| simpkv(*words) }
      [put, rm].all? { |outcome| outcome.code == Simpkv::Cli::Failure::NO_PERMISSION } &&
        put.err.match?(/uid \d+ needs read and write permission on the file/) &&
        rm.err.match?(/uid \d+ needs write permission on its folder/)
    end
  end
end
