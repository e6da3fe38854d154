# frozen_string_literal: true

require_relative '../../../../spec/puppet_helper'
require_relative '../../../../spec/command/command_helper'
require_relative '../../../../spec/support/eyaml'

# Hiera data that the gem hiera-eyaml has encrypted.
RSpec.describe 'simpkv import-eyaml' do
  include_context 'with keys in files'

  before(:context) do
    @keys = Dir.mktmpdir('eyaml')
    @eyaml = EyamlKeys.new(@keys)
  end

  after(:context) { FileUtils.remove_entry(@keys) }

  def enc(text)
    @eyaml.encrypt(text)
  end

  # @param data [Hash, String] of Hiera, or the text of the file
  def hiera(name, data)
    file = File.join(folder, name)
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, data.is_a?(String) ? data : data.to_yaml)
  end

  # Runs the command with the private key, and expects no planted value in its output.
  def import(*arguments, key: @eyaml.private_key)
    keys = key ? ['--pkcs7-private-key', key] : []
    simpkv('import-eyaml', *arguments, *keys)
      .tap { |outcome| expect(outcome.out + outcome.err).not_to include('pl4nted') }
  end

  # @return [Hash{String => String}] all documents, by path
  def everything
    Dir[File.join(root, '**', '*')].select { |file| File.file?(file) }
                                   .to_h { |file| [file.delete_prefix("#{root}/"), File.read(file)] }
  end

  # @return [Hash{String => String}] the documents that simpkv::put stores for these Sensitive values
  def put_by_manifests(values)
    world = PuppetWorld.new
    place = { 'type' => 'file', 'id' => 'world', 'root_path' => File.join(folder, 'world') }
    values.to_h do |key, value|
      world.call('simpkv::put', key, Puppet::Pops::Types::PSensitiveType::Sensitive.new(value), {},
                 { 'backends' => { 'default' => place } })
      path = "environments/production/#{key}"
      [path, File.read(File.join(folder, 'world', path))]
    end
  ensure
    world.close
  end

  it 'stores each encrypted value as the Sensitive that simpkv::put stores, and leaves the others' do
    nested = { 'url' => 'db1', 'users' => ['a', { 'password' => enc("pl4nted é\n") }] }
    hiera('common.yaml', 'app1::db_password' => enc('pl4nted-1'), 'app1::port' => 5432, 'app1::nested' => nested,
                         'app1::url' => "db://a:#{enc('pl4nted-2')}@db1", 'app1::empty' => enc(''))
    expect(import('common.yaml')).to have_attributes(code: 0, out: /^stored: +4$.*^verified: +true$/m)
    expect(everything)
      .to eq(put_by_manifests('hiera/app1::db_password' => 'pl4nted-1', 'hiera/app1::url' => 'db://a:pl4nted-2@db1',
                              'hiera/app1::empty' => '', 'hiera/app1::nested' => {
                                'url' => 'db1', 'users' => ['a', { 'password' => 'pl4nted é' }]
                              }))
  end

  it 'reads blocks, and values without the name of the method, as eyaml writes them' do
    text = enc('pl4nted')
    block = text.scan(/.{1,60}/).map { |line| "  #{line}" }.join("\n")
    hiera('common.yaml', "a: >\n#{block}\nb: #{text.sub('PKCS7,', '')}\n")
    expect(import('common.yaml').code).to eq(0)
    expect(everything.values).to eq([Simpkv::RichData.sensitive('pl4nted')] * 2)
  end

  it 'gives each file of a folder a folder, which the level of hiera.yaml that it names reads' do
    hiera('data/common.yaml', 'app1::password' => enc('pl4nted-1'))
    hiera('data/nodes/db1.example.com.eyaml', 'app1::password' => enc('pl4nted-2'))
    hiera('data/empty.yml', "# nothing\n")
    outcome = import('data')
    expect(outcome.code).to eq(0)
    expect(outcome.err).to include("lookup_key: simpkv::lookup_key' (docs/hiera.md) for the folder 'hiera/common', " \
                                   "the folder 'hiera/nodes/db1.example.com'")
    expect(everything.keys.map { |path| path.delete_prefix('environments/production/hiera/') })
      .to contain_exactly('common/app1::password', 'nodes/db1.example.com/app1::password')
  end

  it 'names keys as --into, --split and --map say' do
    hiera('common.yaml', 'app1::db::password' => enc('pl4nted-1'), 'token' => enc('pl4nted-2'))
    expect(import('common.yaml', '--into', '/', '--split', '--map', 'token=app1/api/token', '-e', 'dev').code).to eq(0)
    expect(everything.keys).to contain_exactly('environments/dev/app1/db/password', 'environments/dev/app1/api/token')
    expect(import('common.yaml', '--map', 'nothing=x')).to have_attributes(code: 65, err: /--map nothing: no file has/)
    expect(import('common.yaml', '--map', 'nothing')).to have_attributes(code: 64)
  end

  it 'imports other values with --all, as they are' do
    hiera('common.yaml', 'a' => enc('pl4nted'), 'port' => 5432, 'hash' => { 'x' => [1, nil] }, 'null' => nil,
                         'simpkv::options' => { 'x' => 1 })
    outcome = import('common.yaml', '--all')
    expect(outcome).to have_attributes(code: 0, err: /null: it is null: it is left out/)
    expect(outcome.err).to include('simpkv::options: Hiera finds no key of simpkv itself')
    expect(everything.slice(*%w[port hash].map { |name| "environments/production/hiera/#{name}" }).values)
      .to eq(['{"value":5432,"metadata":{}}', '{"value":{"x":[1,null]},"metadata":{}}'])
    expect(everything.length).to eq(3)
  end

  it 'names values that Hiera interpolated' do
    hiera('common.yaml', 'a' => enc('pl4nted-%{facts.role}'), 'b' => enc('50%'))
    expect(import('common.yaml').err.scan(/: (\w+): it has %\{/)).to eq([['a']])
  end

  it 'stores nothing with --dry-run, which names each key' do
    hiera('common.yaml', 'app1::password' => enc('pl4nted'))
    expect(import('common.yaml', '-n'))
      .to have_attributes(code: 0, out: /^to store: +1$/,
                          err: %r{common.yaml: app1::password -> environments/production/hiera/app1::password$})
    expect(everything).to eq({})
  end

  it 'does nothing the second time, and refuses to replace a newer value' do
    hiera('common.yaml', 'a' => enc('pl4nted'))
    import('common.yaml')
    expect(import('common.yaml').out).to match(/^unchanged: +1$/)
    simpkv!('put', 'hiera/a', 'newer')
    expect(import('common.yaml')).to have_attributes(code: 65, err: %r{other documents.*hiera/a}m)
    expect(simpkv!('get', 'hiera/a')).to eq('newer')
    expect(import('common.yaml', '--existing', 'replace').code).to eq(0)
    import('--rollback', Dir[File.join(folder, '*.journal')].max)
    expect(simpkv!('get', 'hiera/a')).to eq('newer')
  end

  # Each of these must leave the store as it was, whatever comes before it in the file.
  broken = { 'a damaged text' => ->(text) { text.sub(/.{20}\]/, ']') },
             'a cut text' => ->(text) { text[0...-1] },
             'no base64' => ->(text) { text.sub('PKCS7,', 'PKCS7,*') },
             'an empty text' => ->(_) { 'ENC[PKCS7,]' } }
  broken.each do |what, change|
    it "names the file and the key of #{what}, and stores nothing" do
      hiera('good.yaml', 'good' => enc('pl4nted-1'))
      hiera('data/bad.yaml', 'also::good' => enc('pl4nted-2'), 'app1::bad' => ['x', change.call(enc('pl4nted-3'))])
      expect(import('good.yaml', 'data'))
        .to have_attributes(code: 65, err: %r{\Asimpkv: 1 problem:\n  data/bad.yaml: app1::bad: it .*\nNothing was })
      expect(everything).to eq({})
    end
  end

  it 'names values for another key, by GPG, and of bytes' do
    other = Dir.mktmpdir('other', folder)
    hiera('common.yaml', 'other' => EyamlKeys.new(other).encrypt('pl4nted'), 'gpg' => 'ENC[GPG,hQEMA]',
                         'bytes' => enc("pl4nted\xff"), 'good' => enc('pl4nted'))
    expect(import('common.yaml').err).to match(/3 problems:
  common.yaml: other: it (cannot be decrypted: it is damaged, or|is bytes, not text, or) .*
  common.yaml: gpg: it is encrypted with GPG, and only PKCS7 is read.*
  common.yaml: bytes: it is bytes.*\nNothing/)
    expect(everything).to eq({})
  end

  it 'refuses names that are no keys, and two files with one key' do
    hiera('a.yaml', 'key one' => enc('pl4nted'), 'a' => enc('pl4nted-1'), 'Capital' => enc('pl4nted'))
    hiera('b.yaml', 'a' => enc('pl4nted-2'))
    expect(import('a.yaml', 'b.yaml').err)
      .to match(/2 problems:\n  a.yaml: key one: .*\n  b.yaml: a: its key is 'a', and so is that of 'a.yaml: a'/)
    hiera('a.yaml', 'Capital' => enc('pl4nted'))
    expect(import('a.yaml')).to have_attributes(code: 65, err: %r{capital letters.*hiera/Capital}m)
    expect(import('a.yaml', '--capitals', 'lower').code).to eq(0)
    expect(everything.keys).to eq(['environments/production/hiera/capital'])
  end

  # Hiera merged the accounts in files. In simpkv, those of the lower levels vanished without a word.
  it 'refuses an encrypted Hash or Array that several files have, until --merged says what to do' do
    account = ->(text) { { 'password' => enc(text), 'uid' => 1 } }
    hiera('data/common.yaml', 'accounts' => { 'bob' => account.call('pl4nted-1') }, 'tokens' => [enc('pl4nted-2')],
                              'plain' => { 'a' => 1 }, 'one' => { 'a' => enc('pl4nted-3') }, 'text' => enc('pl4nted-4'))
    hiera('data/nodes/db1.yaml', 'accounts' => { 'alice' => account.call('pl4nted-5') }, 'tokens' => ['plain'],
                                 'plain' => { 'b' => 1 }, 'text' => enc('pl4nted-6'))
    outcome = import('data', '--all')
    expect(outcome.code).to eq(65)
    expect(outcome.err.scan(/^  (\S+: \w+): several files have this Hash or Array, .*--merged store/).flatten)
      .to eq(['data/common.yaml: accounts', 'data/common.yaml: tokens', 'data/nodes/db1.yaml: accounts',
              'data/nodes/db1.yaml: tokens'])
    expect(everything).to eq({})

    expect(import('data', '--merged', 'skip')).to have_attributes(code: 0, err: /accounts: several files have it/)
    expect(everything.keys.map { |path| path.split('/hiera/').last })
      .to contain_exactly('common/one', 'common/text', 'nodes/db1/text')
    expect(import('data', '--merged', 'store').code).to eq(0)
    expect(everything.keys.grep(/accounts/).length).to eq(2)
  end

  describe 'with --compare' do
    let(:modules) { File.join(folder, 'modules') }

    before do
      Dir.mkdir(modules)
      File.symlink(PuppetWorld::PROJECT, File.join(modules, 'simpkv'))
      hiera('old.yaml', 'version' => 5, 'hierarchy' => [
              { 'name' => 'eyaml', 'lookup_key' => 'eyaml_lookup_key', 'datadir' => 'data',
                'paths' => ["nodes/#{variable('trusted.certname')}.yaml", "roles/#{variable('role')}.yaml",
                            'common.yaml'],
                'options' => { 'pkcs7_private_key' => @eyaml.private_key, 'pkcs7_public_key' => @eyaml.certificate } }
            ])
      store = { 'default' => { 'type' => 'file', 'id' => 'keys', 'root_path' => root } }
      hiera('new.yaml', 'version' => 5, 'hierarchy' => [
              { 'name' => 'stored', 'lookup_key' => 'simpkv::lookup_key', 'options' => { 'backends' => store },
                'uris' => ["hiera/nodes/#{variable('trusted.certname')}", "hiera/roles/#{variable('role')}",
                           'hiera/common'] }
            ])
      hiera('facts.yaml', 'values' => { 'role' => 'db' })
    end

    # An interpolation of Hiera.
    def variable(name)
      "%{#{name}}"
    end

    def compare(*more)
      simpkv('import-eyaml', 'data', '--compare', 'old.yaml,new.yaml', '--modulepath', modules, '--facts', 'facts.yaml',
             '--node', 'db1', *more).tap { |outcome| expect(outcome.out + outcome.err).not_to include('pl4nted') }
    end

    it 'finds no difference after an import of merged accounts, and names each change of the store' do
      options = { 'accounts' => { 'merge' => 'deep' }, 'token' => { 'convert_to' => 'Sensitive' } }
      hiera('data/common.yaml', 'lookup_options' => options, 'token' => enc('pl4nted-1'), 'port' => 1, 'off' => false,
                                'accounts' => { 'bob' => { 'password' => enc('pl4nted-2'), 'uid' => 1 } }, 'a.b' => 'x')
      hiera('data/roles/db.yaml', 'accounts' => { 'carol' => { 'keys' => %w[pl4nted-3 pl4nted-4] } })
      hiera('data/nodes/db1.yaml', 'accounts' => { 'alice' => { 'password' => enc('pl4nted-5') } }, 'token' => enc('x'))
      expect(import('data', '--all', '--merged', 'store').code).to eq(0)
      expect(compare).to have_attributes(code: 0, out: /^keys: +5\nequal: +5\ndifferent: +0$/)

      simpkv!('rm', 'hiera/common/port')
      simpkv!('put', 'hiera/common/off', 'pl4nted')
      simpkv!('put', 'hiera/nodes/db1/token', 'x', '--no-sensitive')
      simpkv!('put', 'hiera/common/lookup_options', '{"accounts":{"merge":"deep"}}', '--json')
      simpkv!('put', 'hiera/roles/db/accounts', '{"carol":{"keys":["pl4nted-3"]},"dora":1}', '--json')
      outcome = compare
      expect(outcome).to have_attributes(code: 65, out: /^different: +4$/)
      expect(outcome.err.lines.map { |line| line.delete_prefix('simpkv: ').chomp }).to contain_exactly(
        "'accounts': its member carol.keys has 1 members in place of 2; its member dora is new",
        "'off': it has another type", "'port': the old hierarchy finds a value, and the new one finds none",
        "'token': it is no longer Sensitive"
      )
    end

    it 'names keys that are merged in files only, are twice Sensitive, or fail' do
      hiera('data/common.yaml', 'list' => ['a'], 'whole' => { 'a' => enc('pl4nted-1') },
                                'lookup_options' => { 'list' => { 'merge' => 'unique' },
                                                      'whole' => { 'convert_to' => 'Sensitive' } })
      hiera('data/nodes/db1.yaml', 'list' => ['b'])
      expect(import('data', '--all').code).to eq(0)
      simpkv!('put', 'hiera/nodes/db1/list', 'pl4nted', '--sensitive')
      expect(compare.err.lines.map { |line| line.delete_prefix('simpkv: ').chomp }).to contain_exactly(
        "'list': the old hierarchy finds a value, and the new one fails: puppet lookup tells why",
        "'whole': its member a is a Sensitive in a Sensitive: leave out 'convert_to'"
      )
    end

    it 'names files that are missing or no hiera.yaml' do
      hiera('data/common.yaml', 'a' => 1)
      hiera('list.yaml', "- pl4nted\n")
      expect(compare('--compare', 'old.yaml,missing.yaml')).to have_attributes(code: 66, err: /missing.yaml/)
      expect(compare('--compare', 'old.yaml,list.yaml')).to have_attributes(code: 65, err: /list.yaml' has no Hash/)
      expect(compare('--compare', 'old.yaml')).to have_attributes(code: 64)
    end
  end

  it 'says what is missing: values, files, and the private key' do
    hiera('plain.yaml', 'port' => 1)
    FileUtils.mkdir_p(File.join(folder, 'none'))
    hiera('list.yaml', "- pl4nted\n")
    hiera('common.yaml', 'a' => enc('pl4nted'))
    expect(import('plain.yaml')).to have_attributes(code: 66, err: /plain.yaml: there is no value with ENC/)
    expect(import('missing.yaml')).to have_attributes(code: 66, err: /no file 'missing.yaml'/)
    expect(import('none')).to have_attributes(code: 66, err: /'none' has no files \*\.\{yaml,yml,eyaml\}/)
    expect(import('list.yaml')).to have_attributes(code: 65, err: /list.yaml' has no Hash/)
    expect(import('common.yaml', key: 'wrong.pem'))
      .to have_attributes(code: 66, err: /'wrong.pem' with the private key .* is missing/)
    expect(import).to have_attributes(code: 64, err: /takes FILE\.\.\./)
  end

  it 'reads the configuration of eyaml' do
    hiera('common.yaml', 'a' => enc('pl4nted'))
    hiera('eyaml.yaml', 'pkcs7_private_key' => @eyaml.private_key)
    hiera('variable.yaml', 'pkcs7_private_key_env_var' => 'PRIVATE', 'pkcs7_private_key' => 'missing.pem')
    hiera('broken.yaml', 'pl4nted')
    outcomes = { 'eyaml.yaml' => {}, 'variable.yaml' => { 'PRIVATE' => File.read(@eyaml.private_key) },
                 './variable.yaml' => {}, 'broken.yaml' => {} }.map do |file, more|
      simpkv('import-eyaml', 'common.yaml', environment: { 'EYAML_CONFIG' => file, **more }, process: true)
    end
    expect(outcomes.map(&:code)).to eq([0, 0, 66, 78])
    expect(outcomes.map(&:err)).to match([/^simpkv: next/, /\Areading/, /the variable PRIVATE with/,
                                          /\Asimpkv: the configuration of eyaml cannot be read: .*EYAML_CONFIG$/])
  end

  it 'says how to install the gem if it is missing, and needs it for encrypted values only' do
    hiera('common.yaml', 'a' => enc('pl4nted'))
    hiera('plain.yaml', 'a' => 'plain')
    without = { 'GEM_HOME' => folder, 'GEM_PATH' => folder }
    expect(simpkv('import-eyaml', 'common.yaml', environment: without))
      .to have_attributes(code: 78, err: %r{-- hiera/backend/eyaml\. Install .*: \S+ install hiera-eyaml$})
    expect(simpkv('import-eyaml', 'plain.yaml', '--all', environment: without).code).to eq(0)
  end
end
