# frozen_string_literal: true

require 'psych'
require 'simpkv/errors'

module Simpkv
  # Refuses YAML of clients without rights if it takes much more memory or time than its length suggests: aliases, each
  # of which repeats a part, and deep nesting. It raises at the first one, before anything is built from the text.
  class YamlBounds < Psych::Handler
    # Lists and Hashes in each other: as many as in JSON.
    DEPTH_MAX = 100

    # @param text [String] of UTF-8
    # @return [void]
    # @raise [MalformedError] the message begins with `it`
    # @raise [Psych::Exception] it is no YAML
    def self.check(text)
      Psych::Parser.new(new).parse(text)
    end

    def initialize
      super
      @depth = 0
    end

    def start_sequence(*)
      descend
    end

    def start_mapping(*)
      descend
    end

    def end_sequence
      @depth -= 1
    end

    def end_mapping
      @depth -= 1
    end

    def alias(_anchor)
      raise MalformedError, 'it has an alias: write out what is repeated'
    end

    private

    def descend
      @depth += 1
      raise MalformedError, "it is nested too deeply: at most #{DEPTH_MAX} levels" if @depth > DEPTH_MAX
    end
  end
end
