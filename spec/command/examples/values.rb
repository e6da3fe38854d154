# frozen_string_literal: true

require 'json'

# get prints what put has stored, byte for byte.
RSpec.shared_examples 'put and get' do
  texts = {
    'text' => 'correct horse', 'text with a newline' => "two\nlines\n", 'Greek and emoji' => 'λόγος 🦊',
    'what looks like JSON' => '{"value": 1}', 'quotes and backslashes' => %q(a'b"c\\n$(x)), 'a number' => '042',
    'more than 64 KiB' => 'ελ ' * 25_000
  }
  bytes = { 'all bytes' => (0..255).map(&:chr).join.b, 'U+0000' => "a\0b" }

  texts.each do |name, text|
    it "keep #{name}, from an argument, standard input, or a file" do
      File.binwrite(File.join(folder, 'value'), text)
      ways = { ['--', text] => '', ['-'] => text, %w[--file value] => '', %w[--file -] => text }
      found = ways.map.with_index do |(arguments, input), index|
        simpkv!('put', "a/#{index}", *arguments, input: input)
        simpkv!('get', "a/#{index}")
      end
      expect(found.uniq).to eq([text.b])
    end
  end

  bytes.each do |name, data|
    it "keep #{name} with --binary, from standard input and from a file" do
      File.binwrite(File.join(folder, 'value'), data)
      simpkv!('put', 'in', '--binary', '-', input: data, process: true)
      simpkv!('put', 'file', '--binary', '-f', 'value')
      expect([simpkv!('get', 'in', process: true), simpkv!('get', 'file')]).to all(eq(data.b))
      expect(JSON.parse(simpkv!('get', 'in', '-o', 'json')))
        .to eq('value' => [data].pack('m0'), 'encoding' => 'base64', 'metadata' => {})
    end
  end

  it 'keep U+0000 in text' do
    simpkv!('put', 'a', '-', input: "a\0b")
    expect(simpkv!('get', 'a')).to eq("a\0b")
    expect(JSON.parse(simpkv!('get', 'a', '-o', 'json'))['value']).to eq("a\0b")
  end

  # JSON escaped the control characters up to U+001F only, and a terminal obeyed U+009B as it obeys an escape.
  it 'escape all control characters in JSON and YAML' do
    letters = [*0..0x1f, *0x7f..0x9f].pack('U*')
    simpkv!('put', 'a', '--json', '--metadata', JSON.generate(letters => letters), '-', input: JSON.generate([letters]))
    plain, *data = [[], %w[-o json], %w[-o yaml]].map { |way| simpkv!('get', 'a', *way).force_encoding('UTF-8') }
    expect([plain, *data].grep(/(?!\n)[[:cntrl:]]/)).to eq([])
    expect(JSON.parse(plain)).to eq([letters])
    expect([JSON.parse(data.first), YAML.safe_load(data.last)])
      .to all(eq('value' => [letters], 'metadata' => { letters => letters }))
  end

  it 'refuse bytes that are not UTF-8, as an argument and without --binary' do
    outcomes = [simpkv('put', '--binary', 'a', "pl4nted\xff"), simpkv('put', 'a', '-', input: "pl4nted\xff")]
    expect(outcomes.map(&:code)).to eq([64, 65])
    expect(outcomes.map(&:err)).to match([/not UTF-8 .*--file/, /not UTF-8 .*--binary/])
  end

  it 'exit with 66 for a missing file' do
    outcome = simpkv('put', 'a', '--file', 'nothing')
    expect([outcome.code, outcome.err]).to eq([66, "simpkv: there is no file 'nothing'\n"])
  end

  ['[1, {"a": [null, true, "λ"]}, []]', '{}', '-0.5', '1e100', '12345678901234567890123', '"text"'].each do |json|
    it "keep the JSON #{json}" do
      simpkv!('put', '--json', 'a', '--', json)
      expect(JSON.parse(simpkv!('get', 'a', '-o', 'json'))['value']).to eq(JSON.parse(json))
      shown = simpkv!('get', 'a').force_encoding('UTF-8')
      expect(json == '"text"' ? shown : JSON.parse(shown)).to eq(JSON.parse(json))
    end
  end

  it 'refuse the placeholder of a secret that was not made' do
    held = Simpkv::Placeholder.text('app1/db')
    refused = have_attributes(code: 65, err: %r{'a/k': it holds the placeholder of a secret})
    [%w[put a/k], %w[put a/k --sensitive], %w[put a/k --binary], %w[cas a/k --absent]].each do |command|
      expect(simpkv(*command, '-', input: held)).to refused
    end
    expect(simpkv('put', 'a/k', 'x', '--metadata', "of=#{held}")).to refused
    simpkv!('put', 'a/k', 'x')
    editor = "sh -c 'echo \"#{held}\" > \"$0\"'"
    expect(simpkv('edit', 'a/k', environment: { 'VISUAL' => nil, 'EDITOR' => editor })).to refused
    expect(simpkv!('get', 'a/k')).to eq('x')
  end

  it 'refuse the JSON null, as simpkv::put does' do
    outcome = simpkv('put', '--json', 'a', 'null')
    expect(outcome.to_a).to match(['', /the value is null, which is not stored: simpkv rm deletes the key/, 65])
    simpkv!('put', '--json', 'a', '[null]')
    expect(simpkv!('get', 'a')).to eq('[null]')
  end

  it 'keep metadata, which -o json and -o yaml show; the next put replaces them' do
    simpkv!('put', 'a', 'x', '--metadata', '{"owner": "dba", "n": [1]}')
    expect(JSON.parse(simpkv!('get', 'a', '-o', 'json')))
      .to eq('value' => 'x', 'metadata' => { 'owner' => 'dba', 'n' => [1] })
    simpkv!('put', 'a', 'x', '-m', '{}')
    expect(YAML.safe_load(simpkv!('get', 'a', '--output=yaml'))).to eq('value' => 'x', 'metadata' => {})
  end

  it 'report an unchanged value' do
    expect(simpkv!('put', 'a', 'x')).to eq('')
    expect(simpkv!('put', 'a', 'x')).to eq("'a' is unchanged\n")
    expect(JSON.parse(simpkv!('put', 'a', 'y', '-o', 'json'))).to eq('key' => 'a', 'written' => true)
  end

  it 'separate keys of environments and global keys' do
    simpkv!('put', 'a', 'production')
    simpkv!('put', '-e', 'dev', 'a', 'dev')
    simpkv!('-g', 'put', 'a', 'global')
    expect([simpkv!('get', 'a'), simpkv!('get', 'a', '--environment', 'dev'), simpkv!('get', '--global', 'a')])
      .to eq(%w[production dev global])
    expect(simpkv!('get', '-e', '', 'dev/a')).to eq('dev')
  end

  it 'keep a Sensitive, of text, bytes or JSON' do
    simpkv!('put', 'text', '--sensitive', '--chomp', '-', input: "hush\n")
    simpkv!('put', 'bytes', '--sensitive', '--binary', '-m', '{"by": "me"}', '-', input: "\x00\xff")
    simpkv!('put', 'json', '--sensitive', '--json', '{"a": [1]}')
    simpkv!('put', 'text', 'hush too', '--sensitive', '--keep-metadata')
    expect([simpkv!('get', 'text'), simpkv!('get', 'bytes'), simpkv!('get', 'json')])
      .to eq(['hush too', "\x00\xff".b, '{"a":[1]}'])
    expect(%w[text bytes json].map { |key| store.get("environments/production/#{key}") })
      .to all(start_with('{"value":{"__ptype":"Sensitive","__pvalue":'))
    expect(simpkv!('put', 'text', 'hush too', '--sensitive')).to eq("'text' is unchanged\n")
  end

  # A put stored a plain value in its place, which every command printed.
  it 'keep a Sensitive, unless --no-sensitive is given, and say so' do
    simpkv!('put', 'a', '--sensitive', '-', input: 'hush')
    expect(simpkv('put', 'a', '-', input: 'hush 2').err).to match(/\A\S+ 'a' was a Sensitive, .*--no-sens.*\n\z/)
    simpkv!('cas', 'a', '--expect-file', '-', 'hush 3', input: 'hush 2')
    expect(JSON.parse(simpkv!('get', 'a', '-o', 'json')))
      .to eq('value' => 'hush 3', 'metadata' => {}, 'sensitive' => true)
    expect(simpkv('put', 'a', 'plain', '--no-sensitive').err).to eq('')
    expect(JSON.parse(simpkv!('get', 'a', '-o', 'json'))).to eq('value' => 'plain', 'metadata' => {})
  end

  it 'refuse to replace what has a Sensitive inside, or cannot be read, without --sensitive or --no-sensitive' do
    inside = Simpkv::Codec.encode({ 'a' => [Simpkv::RichData.object('Sensitive', 'pl4nted')] }, {}, 'pcore')
    { inside => /'a': a part of the stored value is a Sensitive: .*--no-s/,
      '{"value":"pl4' => /'a': .*\. It may have been a Sensitive: .*--no-s/ }
      .each do |document, why|
        plant('a', document)
        expect(simpkv('put', 'a', '-', input: 'new').to_a).to match(['', match(why).and(not_show_secrets), 65])
        simpkv!('put', 'a', '--no-sensitive', '-', input: 'new')
        expect(simpkv!('get', 'a')).to eq('new')
        simpkv!('put', 'a', '-', input: 'newer')
      end
  end

  # `false | simpkv put KEY -` stored an empty password.
  it 'refuse an empty standard input or file, and keep nothing from an argument' do
    FileUtils.touch(File.join(folder, 'empty'))
    { %w[--sensitive -] => '', %w[-] => '', %w[--chomp -] => "\n", %w[--file empty --binary] => '' }
      .each do |arguments, input|
        expect(simpkv('put', 'a', *arguments, input: input).to_a)
          .to match(['', /(standard input|empty) is empty: nothing was stored. simpkv put KEY '' stores/, 65])
      end
    expect(simpkv('put', 'a', '--sensitive', '').err).to eq('')
    expect(simpkv!('get', 'a')).to eq('')
  end

  it 'warn about a secret in an argument, without its text' do
    outcomes = [simpkv('put', 'a', '--sensitive', 'pl4nted'), simpkv('put', 'a', 'pl4nted too'),
                simpkv('cas', 'b', '--absent', '--sensitive', 'pl4nted')]
    expect(outcomes.map(&:code)).to eq([0, 0, 0])
    expect(outcomes.map(&:err)).to all(match(/other users can see a secret .*--file$/).and(not_show_secrets))
    expect(simpkv('put', 'c', 'plain').err).to eq('')
  end

  it 'refuse what would be read as another value inside a Sensitive' do
    outcome = simpkv('put', 'a', '--sensitive', '--json', '{"pl4nted": {"__ptype": "Deferred"}}')
    expect(outcome.to_a).to match(['', /no Hash may have a key '__ptype'$/, 65])
    expect(outcome.err).not_to include('pl4nted')
  end

  it 'print a Sensitive or Binary of Puppet' do
    sensitive = { '__ptype' => 'Sensitive', '__pvalue' => 'hush' }
    binary = { '__ptype' => 'Binary', '__pvalue' => ["\x00\xff".b].pack('m0') }
    plant('s', Simpkv::Codec.encode(sensitive, { 'by' => sensitive }, 'pcore'))
    plant('b', Simpkv::Codec.encode({ '__ptype' => 'Sensitive', '__pvalue' => binary }, {}, 'pcore'))
    plant('h', Simpkv::Codec.encode({ 'a' => [sensitive, binary] }, {}, 'pcore'))
    expect(simpkv!('get', 's')).to eq('hush')
    expect(JSON.parse(simpkv!('get', 's', '-o', 'json')))
      .to eq('value' => 'hush', 'metadata' => { 'by' => 'hush' }, 'sensitive' => true)
    expect(simpkv!('get', 'b')).to eq("\x00\xff".b)
    expect(JSON.parse(simpkv!('get', 'h'))).to eq('a' => ['hush', 'AP8='])
  end

  ['../x', 'a/../b', 'a b', 'Capital', 'é', './a'].each do |key|
    it "refuse the key '#{key}', and name the key but not the value" do
      outcome = simpkv('put', key, 'pl4nted-value')
      expect(outcome.code).to eq(64)
      expect(outcome.err.force_encoding('UTF-8')).to include(key).and(satisfy { |text| !text.include?('pl4nted') })
      expect(simpkv('tree', '--all', '-o', 'json').out).not_to include('"environments/production/')
    end
  end

  ['', '/'].each do |key|
    it "refuse '#{key}', which is no key" do
      expect(simpkv('put', key, 'x').code).to eq(64)
    end
  end

  it 'exit with 66 for a missing key and for a folder' do
    simpkv!('put', 'a/b', 'x')
    outcomes = [simpkv('get', 'b'), simpkv('get', 'a')]
    expect(outcomes.map(&:code)).to eq([66, 66])
    expect(outcomes.map(&:out)).to eq(['', ''])
    expect(outcomes.map(&:err)).to match([/'b'/, /'a'/])
  end

  { 'cut off' => '{"value":"pl4nted-value","metadata":{"a":"pl4nted-meta', 'no Hash' => '["pl4nted-value"]',
    'without a value' => '{"v":"pl4nted-value"}',
    'of another encoding' => '{"value":"pl4nted-value","encoding":"rot13"}',
    'not base64' => '{"value":"pl4nted*value","encoding":"base64"}' }.each do |what, document|
    it "exit with 65 for a document that is #{what}, and quote nothing" do
      plant('broken', document)
      outcomes = [simpkv('get', 'broken'), simpkv('get', 'broken', '-o', 'json')]
      expect(outcomes.map(&:code)).to eq([65, 65])
      expect(outcomes.map { |outcome| outcome.out + outcome.err }).to all(match(/'broken'/).and(not_show_secrets))
    end
  end
end
