# frozen_string_literal: true

# The plugin template, with data that outlive a catalog. The conformance suite runs over it, and so proves that the
# template is a plugin.
template = File.expand_path('../../../../../../../../lib/puppet_x/simpkv/plugin_template.rb', File.realpath(__FILE__))
template_class = lambda do
  plugin_class = nil
  Object.new.instance_eval(File.read(template), template)
  plugin_class
end.call

plugin_class = Class.new(template_class) do # rubocop:disable Lint/UselessAssignment
  def configure(options)
    answer = super
    @entries = MemoryStore.entries(name)
    answer
  end
end
