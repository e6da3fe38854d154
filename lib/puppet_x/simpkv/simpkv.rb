# frozen_string_literal: true

require 'simpkv/adapter'

# The class of the adapters of one environment: Simpkv::Adapter of the gem, with the plugins of this environment. It has
# no name, so that every environment has its own.
folder = File.dirname(__FILE__)
simp_simpkv_adapter_class = Class.new(Simpkv::Adapter) do # rubocop:disable Lint/UselessAssignment
  define_method(:initialize) { super(folder) }
end
