# frozen_string_literal: true

if defined?(Simpkv::Native.binding_name)
  raise LoadError, "this process uses simpkv's #{Simpkv::Native.binding_name} binding already"
end

begin
  require 'simpkv/simpkv_ext'
rescue LoadError => e
  raise LoadError, "simpkv's extension is not built for this Ruby or does not load (run `gem pristine simpkv`, in a " \
                   "checkout bin/setup): #{e.message}"
end
