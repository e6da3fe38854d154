# frozen_string_literal: true

require_relative '../server/server_helper'
require_relative '../../../simpkv-access/spec/support/access_site'

# A service with access control in the directory of `access_server`. The password of each user has the text of
# {DirectoryServer::PASSWORD}.
RSpec.shared_context 'with access control in a service' do |*arguments|
  include_context 'with a service', *arguments

  # The server starts before the service, and ends after it.
  around do |example|
    @access = AccessDirectory.new(access_server, 'plain').tap(&:start)
    example.run
  ensure
    @access&.stop
  end

  let(:access_server) { Slapd }
  let(:access_options) { @access.section }
  let(:backends) { { 'default' => { 'type' => 'ldap' }.merge(@access.settings) } }
  let(:options) { { 'backends' => backends, 'access' => access_options, 'server' => { 'index' => "#{@root}.index" } } }
  # Two users, of whom each has a role and a binding; nothing is applied.
  let(:declared) { AccessSite.new(@access, users: 2, roles: 2, bindings: 2) }

  # Removes a member of a role by hand.
  def remove_member(role, user)
    @access.root.directory.modify_entry(@access.role_dn(role), [[:delete, 'member', [@access.user_dn(user)]]])
  end
end
