# frozen_string_literal: true

require 'simpkv/native/json_reader'
require 'simpkv/native/json_writer'

module Simpkv
  # Leaves all JSON to Ruby, as the FFI binding does.
  module Native
    define_singleton_method(:parse) { |text| JsonReader.parse(text) }
    define_singleton_method(:generate) { |object| JsonWriter.generate(object) }
    define_singleton_method(:plain_document) { |_text| nil }

    # The document stays a String. A key is not checked: that would be a part of the native call.
    class Store
      def get_decoded(folder, key, _upper, timeout_ms)
        get("#{folder}/#{key}", 0, timeout_ms)
      end
    end
  end
end
