# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'
require_relative '../../../../spec/support/ds389'

# A wrong base DN used to look like an empty store: `get` reported a missing key, `tree` printed nothing, `export` wrote
# a backup of 0 keys, and `copy` reported `verified: true`.
RSpec.describe 'simpkv, with a wrong base DN' do
  wrong = { 'outside of the suffixes of the server' => 'ou=simpkv,dc=elsewhere',
            'below the suffix' => 'ou=nothing,dc=simp',
            # The command reported an unavailable server.
            'below an entry that the identity may see' => "ou=nothing,#{DirectoryServer::BASE_DN}" }

  shared_examples 'reports the base DN' do
    include_context 'with the command'

    let(:options) { directory.options('type' => 'ldap', 'id' => id) }
    let(:backends) do
      other = { 'type' => 'file', 'id' => 'other', 'root_path' => File.join(folder, 'other') }
      { 'other' => other, 'default' => options }
    end

    before { store.put('environments/production/app1/token', Simpkv::Codec.encode('x')) }

    calls = { 'reads' => [%w[get app1/token], %w[ls], %w[ls app1], %w[tree], %w[tree --all], %w[exists app1/token],
                          %w[find], %w[find --all], %w[export], %w[export out.jsonl], %w[copy default other],
                          %w[copy default other --dry-run]],
              'writes' => [%w[put a x], %w[rm a], %w[rm -rf a], %w[copy other default --allow-empty]] }

    wrong.each do |where, base_dn|
      calls.each do |kind, commands|
        it "refuses #{kind} #{where}, and names the base DN" do
          options['base_dn'] = base_dn
          FileUtils.mkdir_p(File.join(folder, 'other'))
          commands.each do |arguments|
            outcome = simpkv(*arguments)
            # The server answers that an entry is missing or hidden.
            expect([arguments, outcome.out, outcome.code]).to match([arguments, '', eq(78) | eq(77)])
            expect(outcome.err).to match(/^simpkv: (?=.*no such entry).*\b#{base_dn}\b/)
          end
          expect(Dir.children(folder)).to contain_exactly('simpkv.yaml', 'other')
        end
      end
    end

    it 'is reported by ping too' do
      options['base_dn'] = wrong.values.first
      expect(simpkv!('-b', 'default', 'ping')).to match(/^base entry: +hidden from #{options['admin_dn']}, or missing$/)
    end
  end

  context 'with OpenLDAP' do
    include_context 'with a directory', Slapd, layout: 'plain'
    include_examples 'reports the base DN'

    it 'names the option that was misspelt' do
      options.delete('base_dn')
      options['basedn'] = DirectoryServer::BASE_DN
      directory.delete_tree('ou=instances,ou=simpkv,o=puppet,dc=simp')
      directory.delete_tree('ou=simpkv,o=puppet,dc=simp')
      outcome = simpkv('get', 'app1/token')
      expect(outcome.to_a).to match(['', /did you mean 'base_dn'\?.*'base_dn' \(ou=simpkv,o=puppet,dc=simp\)/m, 77])
    ensure
      directory.add(File.read(File.join(DirectoryServer::SCHEMAS, 'base.ldif')).split("\n\n").last)
    end

    it 'names the identity that may lack the right to see the base entry' do
      options['admin_dn'] = DirectoryServer::STRANGER_DN
      outcome = simpkv('tree')
      expect(outcome.to_a)
        .to match(['', /no such entry to '#{options['admin_dn']}': .*'list' on 'environments.production'/, 77])
    end
  end

  context 'with 389-DS' do
    include_context 'with a directory', Ds389, layout: 'plain'
    include_examples 'reports the base DN'
  end
end

RSpec.describe 'simpkv, of a store without keys' do
  include_context 'with the command'

  let(:backends) do
    %w[default other].to_h do |name|
      [name, { 'type' => 'file', 'id' => name, 'root_path' => File.join(folder, name) }]
    end
  end

  before { %w[default other].each { |name| FileUtils.mkdir_p(File.join(folder, name, 'environments/empty')) } }

  def children
    Dir.children(folder) - %w[simpkv.yaml default other]
  end

  [[], %w[out.jsonl], %w[-g out.jsonl], %w[-e empty out.jsonl]].each do |arguments|
    it "writes no export #{arguments.join(' ')} without --allow-empty" do
      expect(simpkv('export', *arguments).to_a).to match(['', /there are no keys to export .*--allow-empty/, 66])
      expect(children).to eq([])
      printed = simpkv!('export', *arguments, '--allow-empty')
      File.write(File.join(folder, 'out.jsonl'), printed) if arguments.empty?
      expect(File.readlines(File.join(folder, 'out.jsonl')).length).to eq(2)
      expect(JSON.parse(simpkv!('import', 'out.jsonl', '-o', 'json'))).to include('keys' => 0, 'verified' => true)
    end
  end

  it 'refuses to import an environment that the export lacks' do
    simpkv!('put', '-e', 'dev', 'a', 'x')
    simpkv!('export', 'out.jsonl')
    expect(simpkv('-b', 'other', 'import', 'out.jsonl', '-e', 'dve').to_a)
      .to match(['', /out\.jsonl has no keys of the environment 'dve'$/, 66])
  end

  [[], %w[--dry-run], %w[-g], %w[-e empty]].each do |arguments|
    it "copies nothing with #{arguments.inspect} without --allow-empty" do
      expect(simpkv('copy', 'default', 'other', *arguments).to_a)
        .to match(['', %r{there are no keys to copy in file/default.*--allow-empty}, 66])
      expect(JSON.parse(simpkv!('copy', 'default', 'other', *arguments, '--allow-empty', '-o', 'json')))
        .to include('keys' => 0)
    end
  end
end
