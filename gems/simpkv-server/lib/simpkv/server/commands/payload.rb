# frozen_string_literal: true

require 'time'
require 'simpkv/estate'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Commands
      # The members of an object in the payload of a command. A problem names the member and what it must be. No message
      # has a value.
      class Payload
        # A type, or what matches its values, by its words.
        FORMS = { 'a text' => String, 'an object' => Hash, 'a list' => Array, 'a whole number' => Integer,
                  'a number' => Numeric, 'true or false' => ->(value) { [true, false].include?(value) } }.freeze
        # What PuppetDB takes for a time.
        TIME = /\A\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d))?\z/.freeze
        private_constant :FORMS, :TIME

        # @param text [String]
        # @return [Time, nil] nil if it is none
        def self.time(text)
          return unless text.match?(TIME)

          text = text.include?('T') ? text.sub(/([+-]\d\d)(\d\d)\z/, '\1:\2') : "#{text}T00:00:00Z"
          time = Time.iso8601(text).utc
          time if Estate::Produced.time?(time.iso8601) # In UTC, the year may have five digits.
        rescue ArgumentError
          nil
        end

        # @return [Hash]
        attr_reader :data

        # @param data [Object]
        # @param place [String, nil] the path of the object in the payload, such as `resources[3]`
        # @raise [Problem] it is no object
        def initialize(data, place = nil)
          @place = place
          @data = data
          raise Problem.new(400, "#{place || 'the payload'}: it must be an object") unless data.is_a?(Hash)
        end

        # @param name [String]
        # @param null [Boolean] whether it may be null or missing
        # @return [String, nil]
        # @raise [Problem] as for the others
        def text(name, null: false)
          member(name, 'a text', null)
        end

        # @return [Hash, nil]
        def object(name, null: false)
          member(name, 'an object', null)
        end

        # @return [Integer, nil]
        def integer(name, null: false)
          member(name, 'a whole number', null)
        end

        # @return [Numeric] that is not too large for a double
        def number(name)
          number = member(name, 'a number', false)
          number.to_f.finite? ? number : refuse(name, 'a number that is not too large')
        end

        # @return [Boolean, nil]
        def flag(name, null: false)
          member(name, 'true or false', null)
        end

        # @return [Time, nil]
        def time(name, null: false)
          text = member(name, 'a text', null)
          text && (self.class.time(text) || refuse(name, 'a time such as 2026-11-23T15:00:00.000Z'))
        end

        # @return [String, nil] a time in UTC, with the digits that it came with
        def timestamp(name, null: false)
          time = time(name, null: null)
          time && Estate::Produced.text(time, @data[name])
        end

        # @return [Hash{String => String}] the members of {Estate::Produced}
        def produced
          Estate::Produced.members(text(Estate::Produced::PRODUCER, null: true), timestamp(Estate::Produced::TIME))
        end

        # @return [Array<String>] empty for null
        def texts(name)
          list(name, 'a list of texts') { |item| item.is_a?(String) } || []
        end

        # @param words [String] what it must be
        # @yieldparam item [Object]
        # @yieldreturn [Boolean] whether the list may have it
        # @return [Array, nil] nil for null
        def list(name, words, &valid)
          list = member(name, 'a list', true)
          list.nil? || list.all?(&valid) ? list : refuse(name, words)
        end

        # @yieldparam object [Payload] each object of a list
        # @return [Array] what the block returns; empty for null
        def each(name, null: false)
          (member(name, 'a list', null) || []).each_with_index.map do |data, index|
            yield Payload.new(data, "#{path(name)}[#{index}]")
          end
        end

        # @return [Payload] a member that is an object
        def below(name)
          Payload.new(@data[name], path(name))
        end

        # @raise [Problem]
        def refuse(name, words)
          raise Problem.new(400, "#{path(name)}: it must be #{words}")
        end

        private

        def path(name)
          [@place, name].compact.join('.')
        end

        def member(name, words, null)
          value = @data[name]
          return value if FORMS.fetch(words) === value || (null && value.nil?) # rubocop:disable Style/CaseEquality

          refuse(name, null ? "#{words}, or null" : words)
        end
      end
    end
  end
end
