# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

# The stores of trocla, as its documentation and that of moneta describe them.
RSpec.describe 'simpkv import-trocla' do
  include_context 'with keys in files'

  scram = 'SCRAM-SHA-256$4096:pl4nted'
  entries = { 'user1' => { 'plain' => 'pl4nted é', 'sha512crypt' => '$6$salt$pl4nted', 'mysql' => '*PL4NTED' },
              'app1/db' => { 'plain' => 'pl4nted2', 'pgsql' => scram, 'md5crypt' => '$1$pl4nted' } }

  # @return [Object] the outcome, of which nothing shows a secret
  def import(*arguments, input:)
    simpkv('import-trocla', *arguments, input: input)
      .tap { |outcome| expect(outcome.out + outcome.err).not_to match(/pl4nted/i) }
  end

  def expect_forms
    { ['user1'] => 'pl4nted é', ['user1', '--format', 'sha512-crypt'] => '$6$salt$pl4nted',
      ['app1/db', '--format', 'scram-sha-256'] => 'SCRAM-SHA-256$4096:pl4nted' }.each do |arguments, text|
      expect(simpkv!('secret', *arguments).force_encoding('UTF-8')).to eq(text)
    end
    kept = store.get('environments/production/app1/db')
    expect(Simpkv::RichData.read(kept)[:metadata]['simpkv::secret']['forms']).to include('md5crypt' => '$1$pl4nted')
  end

  it 'stores the secrets of a file, and every format with its bytes' do
    expect(import(input: YAML.dump(entries))).to have_attributes(code: 0, out: /^stored: +2$/)
    expect_forms
  end

  {
    'as they are' => ->(data) { data },
    'in base64' => ->(data) { [data].pack('m0') }
  }.each do |how, form|
    it "stores the secrets of a table, whose values are marshalled, #{how}" do
      rows = entries.map { |key, entry| "#{key}\t#{form.call(Marshal.dump(entry)).unpack1('H*')}\n" }
      expect(import('--sql', input: rows.join)).to have_attributes(code: 0, out: /^stored: +2$/)
      expect_forms
    end
  end

  it 'keeps the time at which a secret expires' do
    row = "user1\t#{Marshal.dump([{ 'plain' => 'x' }, 4_000_000_000]).unpack1('H*')}\n"
    expect(import('--sql', input: row).code).to eq(0)
    expect(JSON.parse(simpkv!('get', 'user1', '-o', 'json'))).to include('expires' => '2096-10-02T07:06:40Z')
  end

  {
    'text' => '1700000000', 'infinity' => Float::INFINITY, 'no number' => Float::NAN, 'before 1970' => -99_999_999_999,
    'after 9999' => 253_402_300_800, 'false' => false
  }.each do |what, time|
    it "refuses a time of expiry that is #{what}, and stores nothing" do
      expected = have_attributes(code: 65, err: /user2: the time at which it expires is no number of seconds/)
      expired = entries.merge('user2' => [{ 'plain' => 'pl4nted' }, time])
      expect(import(input: YAML.dump(expired))).to expected
      rows = expired.map { |key, entry| "#{key}\t#{Marshal.dump(entry).unpack1('H*')}\n" }
      expect(import('--sql', input: rows.join)).to expected
      expect(File.exist?(root)).to be(false)
    end
  end

  it 'refuses a name that is no text, and stores nothing' do
    { YAML.dump(5 => { 'plain' => 'pl4nted' }) => [],
      "#{[Marshal.dump(5)].pack('m0')}\t#{Marshal.dump('plain' => 'pl4nted').unpack1('H*')}\n" => ['--sql'] }
      .each do |input, options|
        expect(import(*options, input: input)).to have_attributes(code: 65, err: /^ *5: its name is no text/)
      end
    expect(File.exist?(root)).to be(false)
  end

  it 'refuses a name that is no text of UTF-8 or no name of a key, and stores nothing' do
    ["k\xE9y".b, [Marshal.dump("k\xE9y")].pack('m0'), 'kéy'].each do |key|
      row = "#{key}\t#{Marshal.dump(entries['user1']).unpack1('H*')}\n"
      expect(import('--sql', input: row)).to have_attributes(code: 65, err: /1 problem:\n/)
    end
    expect(File.exist?(root)).to be(false)
  end

  it 'refuses the placeholder of a secret, and stores nothing' do
    held = entries.merge('user2' => { 'plain' => Simpkv::Placeholder.text('user2') })
    expect(import(input: YAML.dump(held))).to have_attributes(code: 65, err: /user2: it holds the placeholder/)
    expect(File.exist?(root)).to be(false)
  end

  it 'leaves out a secret that it cannot give back, and names it' do
    expect(import(input: YAML.dump(entries.merge('user2' => { 'ssha' => '{SSHA}pl4nted' }))))
      .to have_attributes(code: 0, out: /^stored: +2$/, err: /user2: it has no format 'plain': it is left out/)
  end

  it 'makes no object of a table' do
    row = "user1\t#{Marshal.dump(Struct.new('Pl4nted', :a).new('x')).unpack1('H*')}\n"
    expect(import('--sql', input: row)).to have_attributes(code: 65, err: /user1: its value is no text, list or Hash/)
    ['pl4nted', "k\tpl4nted", "k\t04", "k\t#{Marshal.dump(entries['user1']).unpack1('H*')[0..-9]}"].each do |line|
      expect(import('--sql', input: "#{line}\n").code).to eq(65)
    end
    expect(File.exist?(root)).to be(false)
  end
end
