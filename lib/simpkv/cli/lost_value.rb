# frozen_string_literal: true

require 'simpkv/native/json_reader'

module Simpkv
  module Cli
    # Finds documents that lack what a manifest once stored: simpkv 1.0.0 wrote JSON in which values of some types lose
    # their content. Quotes no value. {StoredForm.fault} finds those that functions cannot read.
    module LostValue
      # What JSON has in place of a Sensitive.
      SECRET = 'Sensitive [value redacted]'
      # What JSON has in place of a Deferred, and of an object without a form of its own.
      OBJECT = /(?<!\\)"(Deferred\(\{|#<[^"]{1,200}:0x\h{8,16}\b)/n.freeze
      private_constant :SECRET, :OBJECT

      class << self
        # @param document [String] that can be read
        # @return [String, nil] what its value or metadata have lost
        def of_content(document)
          bytes = document.b
          return "it has the text '#{SECRET}' in place of a secret" if bytes.include?(SECRET)
          return 'it has a text such as #<Object:0x...> or Deferred(...) in place of an object' if bytes.match?(OBJECT)

          'a Hash in it has a name twice, and only the last value is read' if repeated?(document)
        end

        private

        def repeated?(document)
          !JsonReader.unique?(document, Native.parse(document))
        rescue MalformedError
          false
        end
      end
    end
  end
end
