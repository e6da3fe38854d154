# frozen_string_literal: true

require 'yaml'
require 'simpkv/errors'

module Simpkv
  # Reads YAML and JSON as plain data: Hashes, Arrays, Strings, numbers, true, false and nil.
  module PlainYaml
    # @param text [String] YAML with aliases, or JSON
    # @return [Object]
    # @raise [MalformedError] it cannot be read, or has other objects, such as a Date or a Symbol; the message names the
    #   line if the parser does, and quotes nothing
    def self.parse(text)
      text = text.dup.force_encoding(Encoding::UTF_8)
      # JRuby's parser accepts other bytes.
      raise MalformedError, 'not UTF-8' unless text.valid_encoding?

      json(text) || YAML.safe_load(text, aliases: true)
    rescue Psych::DisallowedClass
      raise MalformedError, 'it has a date, a symbol or another object: write text in quotes', cause: nil
    rescue Psych::Exception => e
      # The message of the parser quotes the text.
      line = " in line #{e.line}" if e.respond_to?(:line)
      raise MalformedError, "#{e.class}#{line}", cause: nil
    end

    # YAML reads some JSON in another way: 1e3 is text, and a pair of surrogates is an error.
    def self.json(text)
      Native.parse(text) if text.match?(/\A\s*[\[{]/)
    rescue MalformedError
      nil
    end
    private_class_method :json
  end
end
