# frozen_string_literal: true

require 'securerandom'
require 'yaml'
require 'simpkv/access/site'

# Declares the users, roles and bindings of access.yaml in the directory of a site, and then changes a role as somebody
# could do by hand. So the pages of access rights have content, and the overview shows drift.
module SampleAccess
  FILE = File.join(__dir__, 'access.yaml')
  # The member that the role lacks then.
  REMOVED = %w[production compiler-production].freeze
  # No folders of Puppet: the site names the place of each store.
  VARDIRS = [[], []].freeze
  private_constant :FILE, :REMOVED, :VARDIRS

  # @param site [Hash] the options of the site, with `access`
  # @param folder [String] for the files of passwords
  # @param more [Hash{String => Hash}] further objects by section
  # @return [void]
  def self.apply(site, folder, more = {})
    declared = Simpkv::Access::Declarations.new(data(folder).merge(more) { |_, these, those| these.merge(those) })
    access = Simpkv::Access::Site.new(site, VARDIRS, method(:warn))
    access.reconciler.apply(->(state) { state.with(declared.valid!) })
    remove_member(site)
  end

  # @return [Hash{String => Hash}] the content of the file, with new files of passwords
  def self.data(folder)
    data = YAML.safe_load(File.read(FILE))
    data['users'].each_key do |name|
      file = File.join(folder, "#{name}.pw")
      File.write(file, SecureRandom.hex, perm: 0o600)
      data['users'][name] = { 'password' => "file:#{file}" }
    end
    data
  end

  def self.remove_member(site)
    names = Simpkv::Access::Names.new(*site['access'].values_at('users_dn', 'roles_dn'))
    store = Simpkv::Backend.of_globals(site, site['access']['backend'], VARDIRS).open_existing
    role, user = REMOVED
    store.directory.modify_entry(names.role(role), [[:delete, 'member', [names.user(user)]]])
  ensure
    store&.close
  end
  private_class_method :data, :remove_member
end
