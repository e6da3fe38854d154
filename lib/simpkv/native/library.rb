# frozen_string_literal: true

require 'simpkv/native/header'

module Simpkv
  module Native
    # libsimpkv.so, with the functions that simpkv.h declares.
    module Library
      extend FFI::Library

      HEADER = Header.read

      # The interface that the header declares.
      ABI = HEADER.constant('SKV_ABI')

      # Returns the places to load the library from: the file that SIMPKV_LIBRARY names alone; else the installed gem, a
      # checkout's build folder, or the folders of the system.
      # @return [Array<String>] paths and names, the first that loads wins
      def self.candidates
        named = ENV['SIMPKV_LIBRARY'].to_s
        return [named] unless named.empty?

        gem = Gem.loaded_specs['simpkv'] if defined?(Gem)
        files = [File.expand_path('../../../ext/core/build/release/libsimpkv.so', __dir__)]
        files.unshift(File.join(gem.extension_dir, 'lib', "libsimpkv.so.#{ABI}")) if gem
        files.select { |file| File.exist?(file) } << "libsimpkv.so.#{ABI}"
      end

      def self.attach(name)
        function = HEADER.functions.fetch(name)
        attach_function name, function.parameters, function.result, blocking: function.waits
      end

      # The version comes first: a library of another version may lack some of the other functions.
      begin
        ffi_lib candidates
        attach 'skv_abi'
        attach 'skv_version'
      rescue LoadError => e
        raise LoadError, "simpkv's native library does not load (it comes with the gem, with `make install` in " \
                         'ext/core, or from the file that SIMPKV_LIBRARY names; in a checkout, run bin/setup): ' \
                         "#{e.message.split("\n").join('; ')}"
      end
      unless skv_abi == ABI
        raise LoadError, "simpkv #{VERSION} needs interface #{ABI} of libsimpkv, but #{ffi_libraries.first.name} is " \
                         "that of simpkv #{skv_version}, with interface #{skv_abi}. Install the same version of " \
                         'both. SIMPKV_LIBRARY, if it is set, must name that version'
      end

      # An interrupt waits for the end of a call, so that the binding needs no cancel handles.
      HEADER.functions.each_key { |name| attach(name) unless name.start_with?('skv_cancel_') }
    end
  end
end
