# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'
require_relative '../../../../spec/support/ssh_keys'

RSpec.describe 'simpkv ssh' do
  include_context 'with keys in files'

  let(:key) { SshKeys.text }
  let(:other) { SshKeys.text(SshKeys::ED25519, 2) }
  let(:certificate) { SshKeys.text(SshKeys::UNMANAGED) }

  def file(content)
    File.join(folder, 'authorized_keys').tap { |name| File.binwrite(name, content) }
  end

  def import(content, *more)
    simpkv('ssh', 'import', file(content), '--folder', 'ssh/felix', *more)
  end

  # @return [Array<Hash>] the values in a folder, sorted by name
  def values(name = 'ssh/felix', prefix: 'environments/production')
    listed = store.list("#{prefix}/#{name}", required: false) { |_, document| Simpkv::Codec.decode(document)[:value] }
    listed[:keys].sort.map(&:last)
  end

  describe 'import' do
    it 'stores each key with its type, options and comment, and leaves the file' do
      content = "\uFEFFno-pty,from=\"a,b\" #{key} Felix on his laptop\r\n#{other}\r\n"
      outcome = import(content)
      names = %w[felix-on-his-laptop key].map { |slug| "stored: ssh/felix/#{slug}-\\h{12} SHA256:\\S{43}\n" }
      expect(outcome.to_a).to match([/\A#{names.join}\z/, '', 0])
      expect(values).to eq([SshKeys.value(key, 'Felix on his laptop', ['no-pty', 'from="a,b"']), SshKeys.value(other)])
      expect(File.read(file(content))).to eq(content)
    end

    it 'stores a line once that is in the file twice, and keys with the same comment as different ones' do
      import("#{key} a\n#{other} a\n#{key} a\nno-pty #{key} a\n")
      expect(values).to contain_exactly(SshKeys.value(key, 'a'), SshKeys.value(other, 'a'),
                                        SshKeys.value(key, 'a', ['no-pty']))
    end

    it 'changes nothing when it imports the file again, also if keys have other names or metadata' do
      document = Simpkv::Codec.encode(SshKeys.value(other, 'b'), 'owner' => 'felix')
      store.put('environments/production/ssh/felix/mine', document)
      import("#{key} a\n")
      before = store.tree('environments')
      outcome = import("#{key} a\n#{other} b\n")
      expect(outcome.out).to match(%r{\Aunchanged: ssh/felix/a-\h+ .*\nunchanged: ssh/felix/mine .*\n\z})
      expect(store.tree('environments')).to eq(before)
    end

    it 'leaves the keys of the folder that the file lacks' do
      import("#{key} a\n")
      import("#{other} b\n")
      expect(values).to eq([SshKeys.value(key, 'a'), SshKeys.value(other, 'b')])
    end

    it 'names each broken line without its text, stores the others, and exits with 65' do
      content = "#{key} a\nssh-ed25519 pl4nted pl4nted\n# pl4nted\n#{other} pl4\0nted\n\n#{other} b"
      outcome = import(content)
      name = File.join(folder, 'authorized_keys')
      expect(outcome.err).to eq("simpkv: #{name}: line 2 is not stored: it has key data that are not base64\n" \
                                "simpkv: #{name}: line 4 is not stored: it has a NUL character\n")
      expect([outcome.code, outcome.out.lines.length]).to eq([65, 2])
      expect(values).to eq([SshKeys.value(key, 'a'), SshKeys.value(other, 'b')])
      expect(File.binread(name)).to eq(content)
    end

    it 'stores nothing in a dry run, and makes no store' do
      expect(import("#{key} a\nbroken\n", '--dry-run').to_a)
        .to match([%r{\Awould store: ssh/felix/a-\h+ SHA256:\S+\n\z}, /line 2 is not stored/, 65])
      expect(File.exist?(root)).to be(false)
    end

    it 'stores a key of a type that sshkeys_core cannot manage, and says so' do
      outcome = import("#{certificate} a\n")
      expect(outcome.to_a).to match([/\Astored: /, /authorized_keys: line 1: simpkv::authorized_keys refuses keys/, 0])
      expect(values).to eq([SshKeys.value(certificate, 'a')])
    end

    it 'prints what it has done for programs' do
      import("#{key} a\n")
      printed = JSON.parse(import("#{key} a\n#{other} b\nbroken\n", '-o', 'json').out)
      expect(printed).to match(
        'stored' => [{ 'name' => /\Ab-/, **SshKeys.value(other, 'b') }],
        'unchanged' => [{ 'name' => /\Aa-/, **SshKeys.value(key, 'a') }],
        'broken' => [{ 'line' => 3, 'reason' => /\Ait has no key/ }]
      )
    end

    it 'reads standard input, and stores global keys and those of an environment' do
      simpkv!('ssh', 'import', '-', '--folder', '/ssh/felix/', '-g', input: "#{key} a\n")
      expect(values(prefix: 'globals')).to eq([SshKeys.value(key, 'a')])
      expect(simpkv('ssh', 'import', '-', '--folder', 'ssh/felix', '-e', 'dev', input: "#{key} a\nx\n").err)
        .to eq("simpkv: file/default: 'ssh/felix' is the first key of the environment 'dev'\n" \
               "simpkv: standard input: line 2 is not stored: it has no key, or a quote that does not end\n")
      expect(values(prefix: 'environments/dev')).to eq([SshKeys.value(key, 'a')])
    end

    it 'stores nothing of a file without keys' do
      expect(import("# none\n").to_a).to eq(['', '', 0])
      expect(values).to eq([])
    end

    it 'does not replace another document that has the name of a key' do
      import("#{key} a\n")
      name = store.list('environments/production/ssh/felix')[:keys].keys.first
      store.put("environments/production/ssh/felix/#{name}", Simpkv::Codec.encode('mine', {}))
      expect(import("#{key} a\n").to_a).to match(['', %r{file/default: 'ssh/felix/#{name}': .*exists}, 65])
      expect(values).to eq(['mine'])
    end

    it 'refuses a missing file, a missing folder option and a folder that is no key' do
      expect(simpkv('ssh', 'import', 'missing', '--folder', 'a').to_a)
        .to eq(['', "simpkv: there is no file 'missing'\n", 66])
      expect(simpkv('ssh', 'import', folder, '--folder', 'a').to_a).to match(['', /is a folder, not a file/, 66])
      expect(simpkv('ssh', 'import', file('')).to_a).to match(['', /--folder FOLDER is needed/, 64])
      expect(simpkv('ssh', 'import', file("#{key}\n"), '--folder', 'Ssh').to_a)
        .to match(['', /contains unsupported characters/, 64])
    end
  end

  describe 'list' do
    it 'prints a line for each key' do
      import("no-pty,from=\"a,b\" #{key} Felix\u009b on his laptop\n#{other}\n")
      lines = simpkv!('ssh', 'list', 'ssh/felix').lines(chomp: true)
      expect(lines.map { |line| line.split(/ {2,}/) })
        .to match([%w[name type fingerprint options comment],
                   [/\Afelix-on-his-laptop-/, 'ssh-ed25519', /\ASHA256:/, 'no-pty,from="a,b"', /\AFelix\\x9B on his/],
                   [/\Akey-/, 'ssh-ed25519', /\ASHA256:/, '-', '-']])
    end

    it 'prints public keys for programs' do
      import("#{key} a\n")
      expect(JSON.parse(simpkv!('ssh', 'list', 'ssh/felix', '-o', 'json')))
        .to match([{ 'name' => /\Aa-/, **SshKeys.value(key, 'a'), 'fingerprint' => /\ASHA256:/ }])
    end

    it 'names other keys of the folder, without their values' do
      import("#{key} a\n")
      store.put('environments/production/ssh/felix/text', Simpkv::Codec.encode('pl4nted', {}))
      store.put('environments/production/ssh/felix/torn', '{"value":"pl4nted')
      expect(simpkv('ssh', 'list', 'ssh/felix').to_a)
        .to match([/\Aname .*\na-.*\n\z/, "simpkv: 'ssh/felix/text': it is no SSH key\n" \
                                          "simpkv: 'ssh/felix/torn': it is no SSH key\n", 65])
    end

    it 'leaves out keys that have expired, and import stores them anew' do
      import("#{key} a\n#{other} b\n")
      stored = store.list('environments/production/ssh/felix')[:keys]
      expired = Simpkv::Versions.successor(stored.values.first, nil, expires_after: -61)
      store.put("environments/production/ssh/felix/#{stored.keys.first}", expired)
      expect(simpkv!('ssh', 'list', 'ssh/felix').lines.length).to eq(2)
      expect(import("#{key} a\n#{other} b\n").out).to match(/^stored: .*\nunchanged: /)
      expect(simpkv!('ssh', 'list', 'ssh/felix').lines.length).to eq(3)
    end

    it 'refuses a missing folder' do
      import("#{key} a\n")
      expect(simpkv('ssh', 'list', 'ssh/anna').to_a).to match(['', %r{'ssh/anna': Key folder .* not found}, 66])
    end
  end
end

# A name in the layout hex can have 114 bytes, the fewest of all.
RSpec.describe 'simpkv ssh in a directory' do
  include_context 'with keys in a directory', Slapd, 'hex'

  it 'imports and lists keys' do
    input = "#{SshKeys.text} Jérôme #{'x' * 300}\n#{SshKeys.text}\n"
    2.times { simpkv!('ssh', 'import', '-', '--folder', 'ssh/felix', input: input) }
    expect(JSON.parse(simpkv!('ssh', 'list', 'ssh/felix', '-o', 'json')).map { |key| key['comment'].length })
      .to eq([307, 0])
  end
end
