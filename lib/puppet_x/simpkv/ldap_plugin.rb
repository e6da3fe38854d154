# frozen_string_literal: true

# Keeps keys in an LDAP directory, below an existing entry, in a Simpkv::Store whose connections outlive the catalog.
# plugin_template.rb describes plugins.
plugin_class = Class.new do # rubocop:disable Lint/UselessAssignment
  include Simpkv::Adapter::PluginMethods
end
