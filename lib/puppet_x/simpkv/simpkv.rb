# frozen_string_literal: true

require 'simpkv/adapter'

# The class of the adapters of one environment: Simpkv::Adapter of the gem, with the plugins of this environment. It has
# no name, so that every environment has its own.
code_file = File.join(File.dirname(__FILE__), 'environment_code.rb')
code = TOPLEVEL_BINDING.eval(File.read(code_file), code_file).new(File.dirname(__FILE__))
simp_simpkv_adapter_class = Class.new(Simpkv::Adapter) do # rubocop:disable Lint/UselessAssignment
  define_method(:initialize) { super(code) }
end
