# frozen_string_literal: true

require 'json'

module Simpkv
  # Reads JSON with Ruby's own parser: all of it on JRuby, and on MRI what the native reader declines.
  module JsonReader
    # As deep as the core nests. A member that is there twice counts the last time, which newer json gems refuse, or
    # warn of by quoting it; older ones ignore the option.
    OPTIONS = { max_nesting: 100, allow_duplicate_key: true }.freeze
    private_constant :OPTIONS

    # @param text [String] JSON
    # @return [Object] what JSON.parse answers
    # @raise [MalformedError] it cannot be read, or is not UTF-8, which some parsers let pass; neither the message nor a
    #   cause quotes the text
    def self.parse(text)
      raise MalformedError, 'not a JSON document' unless utf8?(text)

      JSON.parse(text, **OPTIONS)
    rescue JSON::NestingError
      raise MalformedError, 'nested too deeply', cause: nil
    rescue JSON::ParserError, EncodingError
      raise MalformedError, 'not a JSON document', cause: nil
    end

    # Binary text may be UTF-8 that nobody has called so.
    def self.utf8?(text)
      text = String.try_convert(text)
      return true unless text

      text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
      text.valid_encoding?
    end
    private_class_method :utf8?
  end
end
