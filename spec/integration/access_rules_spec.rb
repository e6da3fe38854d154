# frozen_string_literal: true

require_relative '../support/slapd'

# What README.md tells the directory's administrator, on a real server.
RSpec.describe 'The access rules in README.md', :heavy do
  # The rules that Debian's package slapd puts into cn=config, but for an attribute of another schema.
  debian = ['to attrs=userPassword by self write by anonymous auth by * none', 'to * by * read']

  # @return [String] the block of README.md that has the text, without its indentation
  def block(text)
    readme = File.read(File.expand_path('../../README.md', __dir__), encoding: 'UTF-8')
    readme.scan(/^( *)```\w*\n(.*?)^\1```/m).map { |indent, lines| lines.gsub(/^#{indent}/, '') }
          .find { |lines| lines.include?(text) }
  end

  # Starts a slapd with these access rules, which may be changed while it runs.
  def run_slapd(rules)
    Slapd.run(more: "database config\nrootdn \"#{Slapd::ROOT_DN}\"") do |server|
      server.modify(["dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nreplace: olcAccess\n",
                     *rules.map { |rule| "olcAccess: #{rule}\n" }].join)
      yield server
    end
  end

  # @return [String] what the identity finds of a document, or how it is refused
  def seen_by(server, *identity)
    output, = Open3.capture2e('ldapsearch', '-x', *identity, '-H', server.uri, '-LLL', '-b', DirectoryServer::BASE_DN,
                              'simpkvJsonValue')
    output
  end

  # Stores a key as simpkv's identity, and shows that no other identity reads it.
  def expect_it_private(server)
    Simpkv::Store.open('ldap', server.options).put('globals/k', '{"value":"planted","metadata":{}}')
    stranger = ['-D', DirectoryServer::STRANGER_DN, '-y', server.password_file]
    own = ['-D', DirectoryServer::USER_DN, '-y', server.password_file]
    expect([own, stranger, []].map { |identity| seen_by(server, *identity).include?('planted') })
      .to eq([true, false, false])
  end

  it 'keep documents private on a slapd with cn=config and the rules of Debian (there were none for it)' do
    run_slapd(debian) do |server|
      server.modify(block('olcAccess'))
      expect_it_private(server)
    end
  end

  it 'keep documents private on a slapd with slapd.conf' do
    rules = block('access to dn.subtree').lines(chomp: true).map { |line| line.delete_prefix('access ') }
    run_slapd(rules) { |server| expect_it_private(server) }
  end
end
