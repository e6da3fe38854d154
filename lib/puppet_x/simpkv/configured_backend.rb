# frozen_string_literal: true

# A backend of a catalog: its plugin, its store, and what its failures say.
#
# The adapter evaluates this file, and takes the class from the variable. It has no name, so that every environment has
# its own.
configured_backend_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # @return [Object] the plugin
  attr_reader :plugin

  # @return [Simpkv::Store, Object] the plugin's Store; for a third-party plugin an object with the same methods, see
  #   plugin_backend.rb
  attr_reader :store

  # @param plugin [Object] a configured one
  # @param name [String] `<type>/<id>`
  # @param classes [Hash{Symbol => Class}] by the name of the file
  def initialize(plugin, name, classes)
    @plugin = plugin
    @prefix = "simpkv #{name} Error:"
    @text = classes[:exception_text]
    @native = plugin.respond_to?(:simpkv_store)
    @store = @native ? plugin.simpkv_store : classes[:plugin_backend].new(plugin, @text, classes[:plugin_answers])
  end

  # @param exception [Exception] of an operation
  # @return [Simpkv::Error] an error that names the backend and shows no value
  def failure(exception)
    text = @text.of(exception)
    return Simpkv::Error.new(attributed(text)) unless exception.is_a?(Simpkv::Error)

    exception.class.new(attributed(@native ? @plugin.explain(exception) : text))
  end

  # @param why [String, Hash{Object => String}] a text, or several
  # @return [String, Hash{Object => String}] the same, with the name of the backend at its beginning
  def attributed(why)
    return why.transform_values { |each| attributed(each) } if why.is_a?(Hash)

    why.start_with?(@prefix) ? why : "#{@prefix} #{why}"
  end
end
