# frozen_string_literal: true

# Keeps keys in files, one each, below a root folder, in a Simpkv::Store. plugin_template.rb describes plugins.
plugin_class = Class.new do # rubocop:disable Lint/UselessAssignment
  include Simpkv::Adapter::PluginMethods
end
