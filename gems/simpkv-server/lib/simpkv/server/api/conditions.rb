# frozen_string_literal: true

require 'digest/sha2'

module Simpkv
  module Server
    module Api
      # The conditions of a request: If-Match and If-None-Match (RFC 9110).
      class Conditions
        TAG = %r{(W/)?"([^"]*)"}.freeze
        private_constant :TAG

        # @param document [String] as the store returns it
        # @return [String] its entity tag
        def self.etag(document)
          %("#{Digest::SHA256.hexdigest(document)}")
        end

        # @param env [Hash{String => Object}]
        # @raise [Problem] a header is malformed
        def initialize(env)
          @match = parsed(env['HTTP_IF_MATCH'], weak: false)
          @none_match = parsed(env['HTTP_IF_NONE_MATCH'], weak: true)
        end

        # @param document [String, nil] the stored one; nil for none
        # @return [void]
        # @raise [Problem] 412: a condition does not hold
        def check(document)
          etag = document && self.class.etag(document)
          failed('If-Match: another document is stored, or none') if @match && !holds?(@match, etag)
          failed('If-None-Match: the key exists') if @none_match && holds?(@none_match, etag)
        end

        # @return [Boolean] whether a GET can be answered without a body
        def unmodified?(document)
          !@none_match.nil? && holds?(@none_match, self.class.etag(document))
        end

        # @return [Boolean] whether the request has a condition
        def given?
          !(@match.nil? && @none_match.nil?)
        end

        # @return [Array<String>] the entity tags that the request compares
        def tags
          [@match, @none_match].grep(Array).flatten
        end

        private

        def failed(why)
          raise Problem.new(412, "#{why}: read it again")
        end

        def holds?(tags, etag)
          !etag.nil? && (tags == :any || tags.include?(etag))
        end

        # @param weak [Boolean] whether a weak tag equals the strong one of the same text, as it does for If-None-Match
        def parsed(text, weak:)
          return if text.nil?
          return :any if text.strip == '*'

          check_tags(text)
          text.scan(TAG).select { |prefix, _| prefix.nil? || weak }.map { |_, tag| %("#{tag}") }
        end

        def check_tags(text)
          return if text.gsub(TAG, '').match?(/\A[\s,]*\z/) && text.include?('"')

          raise Problem.new(400, 'If-Match and If-None-Match take * or entity tags in quotes')
        end
      end
    end
  end
end
