# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

# Values for other programs.
RSpec.describe 'simpkv export --format' do
  include_context 'with keys in files'

  def export(format, *arguments)
    arguments += ['--prefix', ''] if format == 'env' && !arguments.include?('--prefix')
    simpkv('export', '--format', format, *arguments)
  end

  def plant(key, value, sensitive: false)
    document = sensitive ? Simpkv::RichData.sensitive(value) : Simpkv::Codec.encode(value, { 'of' => 'me' })
    store.put("environments/production/#{key}", document)
  end

  before do
    plant('app1/url', "it's $(x) \"é\"\n")
    plant('app1/port', 5432)
    plant('app1/list', ['a', { 'b' => nil }])
    store.put('environments/dev/app1/url', '{"value":"dev"}')
    store.put('globals/top', '{"value":true}')
  end

  it 'hiera writes a file of Hiera, whose keys have their names in Hiera' do
    plant('app1::direct', 'role %{facts.role}')
    plant('app1/bytes', "\x00\xff".b)
    expect(export('hiera', 'common.yaml')).to have_attributes(code: 0, err: include('5 keys exported'))
    text = File.read(File.join(folder, 'common.yaml'))
    expect(File.stat(File.join(folder, 'common.yaml')).mode & 0o777).to eq(0o600)
    expect(YAML.safe_load(text))
      .to eq('app1::url' => "it's $(x) \"é\"\n", 'app1::port' => 5432, 'app1::list' => ['a', { 'b' => nil }],
             'app1::direct' => "role %{literal('%')}{facts.role}", 'app1::bytes' => "\x00\xff".b)
    expect(export('hiera', '-e', 'dev').out).to eq("---\napp1::url: dev\n")
  end

  it 'json writes an object of one environment, of the global keys, or of a folder' do
    expect(JSON.parse(export('json').out))
      .to eq('app1/url' => "it's $(x) \"é\"\n", 'app1/port' => 5432, 'app1/list' => ['a', { 'b' => nil }])
    expect(JSON.parse(export('json', '-g').out)).to eq('top' => true)
    expect(JSON.parse(export('json', '--folder', 'app1').out).keys).to eq(%w[list port url])
  end

  it 'env writes lines that a shell reads as the same values' do
    plant('app1/quotes', "'\\'' `id` $HOME !! \\\n")
    expect(export('env', '--folder', 'app1', '--prefix', 'app_', 'app.env').code).to eq(0)
    script = '. ./app.env; printf "%s|" "$APP_URL" "$APP_PORT" "$APP_LIST" "$APP_QUOTES"'
    output, = Open3.capture2('sh', '-eu', '-c', script, chdir: folder)
    expect(output.force_encoding('UTF-8'))
      .to eq("it's $(x) \"é\"\n|5432|[\"a\",{\"b\":null}]|'\\'' `id` $HOME !! \\\n|")
  end

  it 'leaves out Sensitive values and names them, unless --show-secrets is given' do
    plant('app1/token', 'pl4nted-token', sensitive: true)
    nested = { 'a' => [{ '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted-nested' }] }
    store.put('environments/production/app1/nested', Simpkv::Codec.encode(nested, {}, 'pcore'))
    %w[hiera json env].each do |format|
      outcome = export(format)
      expect(outcome.code).to eq(65)
      expect(outcome.out + outcome.err).not_to include('pl4nted')
      expect(outcome.err.scan(%r{production/(app1/\w+)': it is Sensitive: --show-secrets}))
        .to eq([['app1/nested'], ['app1/token']])
      expect(outcome.out.downcase).to include('port')
      expect(export(format, '--show-secrets')).to have_attributes(code: 0, out: /pl4nted-token.*|pl4nted-nested.*/m)
    end
    expect(YAML.safe_load(export('hiera', '--show-secrets').out))
      .to include('app1::token' => 'pl4nted-token', 'app1::nested' => { 'a' => ['pl4nted-nested'] },
                  'lookup_options' => { 'app1::nested' => { 'convert_to' => 'Sensitive' },
                                        'app1::token' => { 'convert_to' => 'Sensitive' } })
  end

  # Options of such a key took the place of those that make secrets Sensitive.
  it 'adds to options that a key has, and leaves out such a key that is no Hash' do
    simpkv!('put', 'opt/token', 'pl4nted-t', '--sensitive')
    simpkv!('put', 'opt/lookup_options', '--json', '{"token":{"merge":"first"}}')
    exported = YAML.safe_load(export('hiera', '--show-secrets', '--folder', 'opt').out)
    expect(exported['lookup_options']).to eq('token' => { 'merge' => 'first', 'convert_to' => 'Sensitive' })
    simpkv!('put', 'opt/lookup_options', 'text')
    outcome = export('hiera', '--show-secrets', '--folder', 'opt')
    expect(outcome).to have_attributes(code: 65, err: /it is no Hash/)
    expect(YAML.safe_load(outcome.out)['lookup_options']).to eq('token' => { 'convert_to' => 'Sensitive' })
  end

  # A key git/ssh_command set the program that git starts.
  it 'leaves out variables that a shell or another program obeys' do
    names = %w[ps1 home uid optind lc_all rubyopt git/ssh_command git_pager bash_env env fpath ld_audit editor manpager
               perl5db pythonwarnings _java_options jdk_java_options https_proxy ssl_cert_file ldaptls_reqcert facter_x
               simpkv_config rsync_rsh glibc_tunables prompt_command gem_path sudo_askpass tmpdir]
    names.each { |name| plant("shell/#{name}", 'x') }
    outcome = export('env', '--folder', 'shell', '--allow-empty')
    expect([outcome.code, outcome.out]).to eq([65, ''])
    expect(outcome.err.scan(%r{shell/(\S+)': '[A-Z0-9_]+' is a variable .* obeys: another --prefix}).flatten)
      .to match_array(names)
    expect(export('env', '--folder', 'shell/git', '--prefix', 'git_').err).to include("'GIT_SSH_COMMAND' is a variable")
    expect(export('env', '--folder', 'shell', '--prefix', 'app1_').out.lines.length).to eq(names.length)
  end

  it 'needs a prefix for env, which may be empty' do
    expect(simpkv('export', '--format', 'env').to_a).to match(['', /env needs --prefix TEXT, such as APP1_, /, 64])
  end

  it 'leaves out what a form cannot hold, and names it' do
    plant('bytes', "pl4nted\xff".b)
    plant('nul', "pl4nted\0")
    plant('path', 'x')
    plant('ld_preload', 'x')
    plant('1', 'x')
    plant('a-b', 1)
    plant('a.b', 2)
    time = { '__ptype' => 'Timestamp', '__pvalue' => '2026-01-01T00:00:00.000000000 UTC' }
    store.put('environments/production/time', Simpkv::Codec.encode(time, {}, 'pcore'))
    store.put('environments/production/broken', 'pl4nted')
    outcome = export('env')
    expect(outcome.out + outcome.err).not_to include('pl4nted')
    expect(outcome.code).to eq(65)
    expect(outcome.err.scan(%r{production/(.*?)': (.*)}).to_h).to match(
      'bytes' => /bytes/, 'nul' => /U\+0000/, 'path' => /'PATH' is a variable that a shell or another program obeys/,
      'ld_preload' => /obeys/, '1' => /no name of a variable/, 'a-b' => /2 keys would be called 'A_B'/,
      'a.b' => /2 keys/, 'time' => /type of Puppet/, 'broken' => /Failed to deserialize/
    )
    expect(outcome.out.lines.map { |line| line[/\A\w+/] }.compact).to eq(%w[APP1_LIST APP1_PORT APP1_URL])
  end

  it 'leaves out what has expired, and names keys in Hiera that become equal' do
    store.put('environments/production/old', '{"value":"x","expires":"2020-01-01T00:00:00Z"}')
    plant('app1::url', 'x')
    outcome = export('hiera')
    expect(outcome.err.scan(/(\S+)': 2 keys would be called 'app1::url'/).length).to eq(2)
    expect(YAML.safe_load(outcome.out).keys).to eq(%w[app1::list app1::port])
  end

  it 'refuses options of other formats, and an empty folder' do
    expect([%w[json --raw], %w[json --prefix x], %w[xml], %w[json --folder ../x]].map { |words| export(*words).code })
      .to all(eq(64))
    expect(export('json', '--folder', 'none')).to have_attributes(code: 66, err: /no keys to export/)
    # Releases of the gem json differ in the space of an empty object.
    expect(export('json', '--folder', 'none', '--allow-empty')).to have_attributes(code: 0, out: /\A\{\s*\}\n\z/)
  end

  it 'of simpkv writes the keys of a folder, which import reads' do
    exported = simpkv!('export', '--folder', 'app1')
    expect(exported.lines.length).to eq(5)
    expect(simpkv('-b', 'default2', 'import', input: exported).code).to eq(0)
    expect(simpkv!('-b', 'default2', 'get', 'app1/port')).to eq('5432')
  end
end
