# frozen_string_literal: true

module Simpkv
  module Native
    # libsimpkv.so, function by function as simpkv.h declares them; a spec compares the two.
    module Library
      extend FFI::Library

      # The SKV_ABI that the prototypes below were written for.
      ABI = 2

      # SKV_DOUBLE_MAX and SKV_END of simpkv.h.
      DOUBLE_MAX = 32
      END_OF_LIST = 1

      # Where the library may be: what SIMPKV_LIBRARY names alone; else in the installed gem, in a checkout's build
      # folder, or wherever the system looks for libraries.
      # @return [Array<String>] paths and names, the first that loads wins
      def self.candidates
        named = ENV['SIMPKV_LIBRARY'].to_s
        return [named] unless named.empty?

        gem = Gem.loaded_specs['simpkv']
        files = [File.expand_path('../../../ext/core/build/release/libsimpkv.so', __dir__)]
        files.unshift(File.join(gem.extension_dir, 'lib', "libsimpkv.so.#{ABI}")) if gem
        files.select { |file| File.exist?(file) } << "libsimpkv.so.#{ABI}"
      end

      # The other functions only after these have said that it is the right one: another may lack some.
      begin
        ffi_lib candidates
        attach_function :skv_abi, [], :int
        attach_function :skv_version, [], :string
      rescue LoadError => e
        raise LoadError, "simpkv's native library does not load (it comes with the gem, with `make install` in " \
                         'ext/core, or from the file that SIMPKV_LIBRARY names; in a checkout, run bin/setup): ' \
                         "#{e.message.split("\n").join('; ')}"
      end
      unless skv_abi == ABI
        raise LoadError, "simpkv #{VERSION} speaks interface #{ABI} of libsimpkv, but that of simpkv #{skv_version}, " \
                         "interface #{skv_abi}, was loaded: #{ffi_libraries.first.name}. Install the same version of " \
                         'both; SIMPKV_LIBRARY, if set, has to name that'
      end

      text = %i[buffer_in size_t].freeze # a String: its bytes and their number
      limits = %i[int64 pointer pointer].freeze # timeout_ms, cancel, reply

      attach_function :skv_status_name, [:int], :string
      attach_function :skv_reply_new, [], :pointer
      attach_function :skv_reply_free, [:pointer], :void
      attach_function :skv_reply_status, [:pointer], :int
      attach_function :skv_reply_message, [:pointer], :string
      attach_function :skv_reply_data, [:pointer], :pointer
      attach_function :skv_reply_size, [:pointer], :size_t
      attach_function :skv_reply_number, [:pointer], :int64
      attach_function :skv_key_check, [*text, :int, :pointer], :int
      attach_function :skv_key_join, [*text, *text, :pointer], :int
      attach_function :skv_dn_from_path, [:int, :int, *text, *text, *text, :pointer], :int
      attach_function :skv_format_double, %i[double pointer], :size_t
      attach_function :skv_document_same, [*text, *text, :pointer], :int
      attach_function :skv_open, [*text, *text, :pointer], :pointer, blocking: true
      attach_function :skv_close, [:pointer], :void
      attach_function :skv_get, [:pointer, *text, :int, *limits], :int, blocking: true
      attach_function :skv_exists, [:pointer, *text, *limits], :int, blocking: true
      attach_function :skv_put, [:pointer, *text, *text, :int, *text, *limits], :int, blocking: true
      attach_function :skv_put_many, [:pointer, *text, :int, *limits], :int, blocking: true
      attach_function :skv_get_many, [:pointer, *text, *limits], :int, blocking: true
      attach_function :skv_delete, [:pointer, *text, *limits], :int, blocking: true
      attach_function :skv_deletetree, [:pointer, *text, *limits], :int, blocking: true
      attach_function :skv_stats, [:pointer], :int
      attach_function :skv_entry_read, [:pointer, *text, *text, *limits], :int, blocking: true
      attach_function :skv_entry_add, [:pointer, *text, *text, *limits], :int, blocking: true
      attach_function :skv_entry_extend, [:pointer, *text, *text, *limits], :int, blocking: true
      attach_function :skv_list_open, [:pointer, *text, *limits], :pointer, blocking: true
      attach_function :skv_tree_open, [:pointer, *text, :int, *limits], :pointer, blocking: true
      attach_function :skv_list_next, [:pointer, *limits], :int, blocking: true
      attach_function :skv_list_close, [:pointer], :void
    end
  end
end
