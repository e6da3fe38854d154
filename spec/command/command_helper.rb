# frozen_string_literal: true

require 'pty'
require_relative '../support/command'
require_relative '../support/ldap_store'

# A store with keys for the command. The examples in examples/ use it with every kind of store:
#
#   plant('environments/production/a', document)
RSpec.shared_context 'with keys in files' do
  include_context 'with the command'

  let(:root) { File.join(folder, 'keys') }
  let(:backends) do
    { 'default' => root, 'default2' => File.join(folder, 'other') }
      .to_h { |name, path| [name, { 'type' => 'file', 'id' => name, 'root_path' => path }] }
  end
  let(:store) { Simpkv::Store.open('file', 'root_path' => root.tap { |path| FileUtils.mkdir_p(path) }) }

  after { store.close }

  # @return [Boolean] whether there is what `explain` names
  def kept?(facts)
    File.file?(facts.fetch('file'))
  end
end

RSpec.shared_context 'with keys in a directory' do |server, layout|
  include_context 'with the command'
  include_context 'with a directory', server, layout: layout

  let(:backends) do
    { 'default' => directory.options('type' => 'ldap', 'id' => id),
      'default2' => { 'type' => 'file', 'id' => 'other', 'root_path' => File.join(folder, 'other') } }
  end

  def kept?(facts)
    !directory.search(facts.fetch('dn'), '(objectClass=*)').empty?
  end
end

# Runs the command on a terminal.
module OnTerminal
  # @param answers [Array<String>] what is typed
  # @return [Array(String, Integer)] all that the terminal shows, and the exit code
  def on_terminal(*arguments, answers: [], environment: {})
    PTY.open do |terminal, program|
      pid = Unbundled::PRELOADED.spawn(arguments, env: { 'SIMPKV_CONFIG' => config }.merge(environment), chdir: folder,
                                                  in: program, out: program, err: program)
      program.close
      answers.each { |answer| terminal.puts(answer) }
      [shown_on(terminal), Process.wait2(pid).last.exitstatus]
    end
  end

  def shown_on(terminal)
    shown = +''
    loop { shown << terminal.readpartial(4096) }
  rescue Errno::EIO, EOFError # The end, on Linux.
    shown.force_encoding(Encoding::UTF_8)
  end
end

RSpec.configure do |config|
  config.include(OnTerminal)
  config.define_derived_metadata(file_path: %r{/spec/command/}) { |metadata| metadata[:needs] ||= :cext }
end

RSpec::Matchers.define(:not_show_secrets) do
  match { |text| !text.to_s.b.include?('pl4nted') }
end
