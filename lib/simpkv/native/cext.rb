# frozen_string_literal: true

raise LoadError, "this process uses simpkv's #{Simpkv::Native.binding_name} binding already" if defined?(Simpkv::Native)

begin
  require 'simpkv/simpkv_ext'
rescue LoadError => e
  raise LoadError, "simpkv's extension for this Ruby is not built or does not load (in a checkout, run bin/setup): " \
                   "#{e.message}"
end
