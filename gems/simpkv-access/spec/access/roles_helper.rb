# frozen_string_literal: true

require_relative 'access_helper'

# The roles of docs/access.md, applied to a server before each example, and the site of one of their users.
RSpec.shared_context 'with the roles of the documentation' do |server|
  include_context 'with access control', server

  # The YAML of a paragraph, with passwords in files of the example.
  def documented(paragraph)
    text = File.read(File.expand_path('../../../../docs/access.md', __dir__))
    data = YAML.safe_load(text[/^\*\*#{paragraph}.*?^```yaml\n(.*?)^```/m, 1])
    users = data.fetch('users', {}).keys
    data.merge('users' => users.to_h { |name| [name, { 'password' => "file:#{password_file(name)}" }] })
  end

  # @param name [String] of a user
  # @param more [Hash] options of the backend
  # @return [String] a configuration file with the identity of that user
  def site_of(name, more = {})
    identity = { 'admin_dn' => user_dn(name), 'admin_pw_file' => password_file(name) }
    backend = admin_options.merge('type' => 'ldap').merge(identity, more)
    File.join(folder, "#{name}.yaml").tap do |file|
      File.write(file, { 'backends' => { 'default' => backend } }.to_yaml)
    end
  end

  # Runs the command as a user.
  def run_as(name, *arguments, **more)
    simpkv(*arguments, environment: { 'SIMPKV_CONFIG' => site_of(name) }, **more)
  end
end
