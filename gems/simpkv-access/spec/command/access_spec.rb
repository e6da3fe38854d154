# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

# Without a server: the commands end before they connect. spec/access has those that do.
RSpec.describe 'simpkv access', :once do
  include_context 'with the command'

  let(:backends) do
    { 'default' => { 'type' => 'ldap', 'id' => 'spec', 'ldap_uri' => 'ldapi://%2Fnowhere' } }
  end
  let(:config) do
    access = { 'users_dn' => 'ou=users,dc=simp', 'roles_dn' => 'ou=roles,dc=simp' }
    content = { 'backends' => backends, 'access' => access }.to_yaml
    File.join(folder, 'simpkv.yaml').tap { |name| File.write(name, content) }
  end

  def file(content)
    File.join(folder, 'access.yaml').tap { |name| File.write(name, content) }
  end

  # @return [Array(Integer, String)]
  def failure(*arguments)
    outcome = simpkv('access', *arguments)
    [outcome.code, outcome.err]
  end

  it 'refuses to prune with a file that declares nothing, which a full disk or an editor may have left' do
    ['', "---\n", 'users: {}', '{}'].product(%w[plan apply]).each do |content, command|
      expect(failure(command, file(content), '--prune'))
        .to match([65, /access\.yaml: it declares nothing, and with --prune .*: simpkv access delete --all does that$/])
    end
  end

  it 'refuses to prune without a file, also with --watch' do
    [%w[plan], %w[apply], %w[apply --watch 1]].each do |arguments|
      expect(failure(*arguments, '--prune')).to match([64, /--prune needs FILE/])
    end
  end
end
