# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'
require_relative '../../../../spec/support/slapd'

# What `consul kv export` prints.
RSpec.describe 'simpkv import-consul' do
  include_context 'with keys in files'

  # @param values [Hash{String => String}] by key
  def exported(values, more = {})
    JSON.generate(values.map { |key, value| { 'key' => key, 'flags' => 0, 'value' => [value].pack('m0') }.merge(more) })
  end

  # Imports from standard input, and expects no planted value in the output.
  def import(input, *arguments)
    simpkv('import-consul', *arguments, input: input)
      .tap { |outcome| expect(outcome.out + outcome.err).not_to match(/pl4nted|cGw0bnRlZ/) }
  end

  # @return [String] the document of a key
  def stored(key)
    store.get("environments/production/#{key}")
  end

  it 'stores text, bytes, empty values and flags, and leaves out folders' do
    values = { 'app1/' => '', 'app1/url' => 'pl4nted é', 'app1/empty' => '', 'bytes' => "\x00\xff".b }
    expect(import(exported(values)))
      .to have_attributes(code: 0, out: /^stored: +3$/, err: %r{app1/: it is a folder: it is left out})
    expect(%w[app1/url app1/empty bytes].map { |key| stored(key) })
      .to eq([Simpkv::Codec.encode('pl4nted é'), Simpkv::Codec.encode(''), Simpkv::Codec.encode("\x00\xff".b)])
    import(exported({ 'flagged' => 'x' }, 'flags' => (1 << 64) - 1))
    expect(stored('flagged')).to eq('{"value":"x","metadata":{"flags":18446744073709551615}}')
  end

  it 'stores each as a Sensitive with --sensitive, below a path and into a folder' do
    input = exported('config/app1/token' => 'pl4nted', 'other' => 'pl4nted')
    expect(import(input, '--sensitive', '--below', 'config', '--into', 'c').code).to eq(0)
    expect(stored('c/app1/token')).to eq(Simpkv::RichData.sensitive('pl4nted'))
    expect(simpkv!('ls')).to eq("c/\n")
  end

  it 'stores keys in a directory, and undoes that' do
    Slapd.run do |server|
      backends['default'] = { 'type' => 'ldap' }.merge(server.options)
      input = exported('app1/url' => 'x', 'app1/token' => 'y')
      expect(import(input, '--into', 'c', '-n').out).to match(/^to store: +2$/)
      expect(import(input, '--into', 'c')).to have_attributes(code: 0, out: /^verified: +true$/)
      expect(simpkv!('get', 'c/app1/token')).to eq('y')
      expect(import('', '--rollback', Dir[File.join(folder, '*.journal')].first).out).to match(/^rolled back: +2$/)
      expect(simpkv('exists', 'c/app1/token').code).to eq(1)
    end
  end

  # It said "key '//A b'".
  it 'names a key that no key of simpkv can have as it would be called' do
    { [] => 'A b', %w[--into /c/] => 'c/A b' }.each do |options, key|
      expect(import(exported('A b' => 'x'), '-n', *options))
        .to have_attributes(code: 65, err: /^  A b: key '#{key}' contains disallowed whitespace$/)
    end
  end

  # The first ones were stored before the others failed.
  it 'refuses a key and a folder of one name before it stores anything, in the export and in the store' do
    expect(import(exported('a/b/c' => 'x', 'z' => 'x', 'a' => 'x'))).to have_attributes(
      code: 65, err: %r{of a key and of a folder:\n  'environments/production/a' is a key, and '\S+/a/b/c' needs}
    )
    expect(import(exported('a/b' => 'x', 'a' => 'x'), '-n').code).to eq(65)
    simpkv!('put', 'k', 'x')
    simpkv!('put', 'f/x', 'x')
    simpkv!('rm', 'f/x')
    before = Dir[File.join(root, '**/*')]
    expect(import(exported('k/b' => 'x', 'f' => 'x', 'z' => 'x'))).to have_attributes(
      code: 65, err: %r{'\S+/f' is a key, and the target has a folder there\n  '\S+/k' is a key, and '\S+/k/b' needs}
    )
    ['k', 'k/in/it'].each { |into| expect(import(exported('z' => 'x'), '--into', into).code).to eq(65) }
    expect(Dir[File.join(root, '**/*')]).to eq(before)
    expect(import(exported('k' => 'x', 'f/y' => 'x')).code).to eq(0)
  end

  it 'refuses what is no export, and stores nothing' do
    { '{"key": "pl4nted"}' => /no output of consul kv export/, '[{"value": "pl4nted"}]' => /no output of consul/,
      '[{"key":"a","value":"eA=="},{"key":"b","value":"pl4nted!"}]' => /b: its 'value' is not base64/,
      '[{"key":"a","value":7}]' => /a: its 'value' is not base64/,
      '[{"key":"a","value":"eA==","flags":"pl4nted"}]' => /a: its 'flags' are no whole number/,
      exported('a' => 'x', 'b c' => 'y') => /b c: .*whitespace/ }.each do |input, why|
      expect(import(input)).to have_attributes(code: 65, err: why)
    end
    # The message was "a: a is stored under the same name".
    twice = '[{"key":"a","value":"eA=="},{"key":"a","value":"eQ=="}]'
    expect(import(twice)).to have_attributes(code: 65, err: /  a: there are two of this name, and only one can/)
    expect(import('[]')).to have_attributes(code: 66, err: /there is no key to import/)
    expect(import(exported('a' => 'x'), '-n')).to have_attributes(code: 0, out: /^to store: +1$/)
    expect(Dir[File.join(root, '**/*')].select { |file| File.file?(file) }).to eq([])
  end
end
