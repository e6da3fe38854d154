# frozen_string_literal: true

# The plugin template, made to keep what it is given: the conformance suite runs over it, so that the template is proven
# to be a plugin.
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
