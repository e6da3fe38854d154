# frozen_string_literal: true

require 'time'
require 'simpkv/counted'
require 'simpkv/status/part'
require 'simpkv/status/reason'

module Simpkv
  module Status
    # What needs attention, from the state of a site: one sentence each, the urgent ones first.
    class Alerts
      # The levels, the worst first.
      LEVELS = %w[critical unknown warning].freeze
      # The maximum of alerts about servers, and about certificates.
      MOST = 10
      # The most names in one sentence.
      NAMES = 10
      DAY = 86_400
      private_constant :MOST, :NAMES, :DAY

      # @return [Hash{Symbol => Numeric, nil}] the limits of all parts: `lag_warning` and so on
      def self.limits
        Part.all.each_value.flat_map { |type| type::LIMITS.to_a }.flat_map do |name, limit|
          [[:"#{name}_warning", limit.warning], [:"#{name}_critical", limit.critical]]
        end.to_h
      end

      # - `level`: `critical` (something is broken now), `unknown` (a part cannot be read) or `warning`
      # - `about`: `failed`, `overdue`, or the name of a part of the state; nil for a part that cannot be read
      # - `text`: a sentence
      Alert = Struct.new(:level, :about, :text)

      # @return [Array<Alert>]
      attr_reader :all

      # @param state [Hash{String => Hash}] the parts as plain data; one that cannot be told has `error`
      # @param limits [Hash{Symbol => Numeric, nil}] those that differ from {Alerts.limits}
      def initialize(state, limits = {})
        @state = state
        @limits = Alerts.limits.merge(limits)
        @all = []
        @parts = Part.all.select { |name, _| state.key?(name) }
        hidden, told = @parts.partition { |name, _| untold?(name) }
        told.each { |name, type| type.alert(state[name], self) }
        untold(hidden.map(&:first))
        sort
      end

      # @return [String] the worst level, or `ok`
      def level
        @all.empty? ? 'ok' : @all.first.level
      end

      # @return [Array<String>] the parts that are being read for the first time, in words
      def pending
        words(@parts.select { |name, _| @state[name]['pending'] })
      end

      # @return [Array<String>] the parts that cannot be read without an alert, in words: a site may do without the
      #   index, and the console says so in the place of the chart
      def unknown
        words(@parts.select { |name, type| type::SILENT && untold?(name) && !@state[name]['pending'] })
      end

      # @param name [String] of a part
      # @return [Boolean] whether it is there
      def told?(name)
        @state.key?(name) && !untold?(name) && @state[name]['configured'] != false
      end

      # @param level [String, nil] see {Alert}; nil adds nothing
      # @param about [String]
      # @param text [String]
      # @return [void]
      def add(level, about, text)
        @all << Alert.new(level, about, text) if level
      end

      # Adds what the block adds, but the most urgent only, and how many more there are.
      #
      # @param what [String] they are about, in words
      # @param about [String] see {Alert}
      # @return [void]
      def most(what, about)
        before = @all
        @all = []
        yield
        found = sort
        @all = before + found.first(MOST)
        more = found.drop(MOST)
        add(more.first.level, about, "#{more.length} more about #{what}.") if more.any?
      end

      # @param value [Numeric] that should be low
      # @param name [Symbol] of its limit
      # @return [String, nil] the level
      def high(value, name)
        reached(name) { |limit| value >= limit }
      end

      # Adds what {#certificate} adds for each certificate of a part: see {#most}.
      #
      # @param part [Hash] with `certificates`
      # @yieldparam certificate [Hash] with `subject`, `option`, `days` and `expires`
      # @yieldreturn [String] whose option names it
      # @return [void]
      def certificates(what, about, part)
        most(what, about) do
          part['certificates'].each do |each|
            whose = "#{each['subject']} ('#{each['option']}' of #{yield each})"
            certificate(about, whose, *each.values_at('days', 'expires'))
          end
        end
      end

      # @param days [Integer, nil] until the end, as whole days; nil for no certificate
      # @param ends [String, nil] the exact time
      # @return [void]
      def certificate(about, whose, days, ends)
        return unless days

        text = days.zero? ? 'expires in less than a day' : "expires in #{Counted.of(days, 'day')}"
        text = 'has expired' if days.negative?
        left = ends ? (Time.iso8601(ends) - Time.now) / DAY : days
        add(reached(:certificate) { |limit| left < limit }, about, "The certificate #{whose} #{text}.")
      end

      # @param words [Array<String>]
      # @return [String] them in a sentence
      def list(words)
        *others, last = words
        [*(others.join(', ') if others.any?), last].join(' and ')
      end

      # @param total [Integer]
      # @param names [Array<String>] of the first ones; none if the caller may not see them
      # @return [String] the total, and some names
      def some(total, names)
        return total.to_s if names.empty?

        named = names.first(NAMES)
        more = total - named.length
        "#{total} (#{[*named, *("#{more} more" if more.positive?)].join(', ')})"
      end

      private

      def untold?(name)
        @state[name].key?('error')
      end

      def words(parts)
        parts.each_value.map { |type| type::WORDS }
      end

      # A directory that is down hides several parts, for one reason.
      def untold(names)
        names = names.reject { |name| @state[name]['pending'] || @parts[name]::SILENT }
        names.group_by { |name| Reason.of(@state[name]['error']) }.each_value do |group|
          names = list(words(@parts.slice(*group)))
          add('unknown', nil, "The #{names} cannot be read: #{@state[group.first]['error']}")
        end
      end

      def sort
        @all = @all.each_with_index.sort_by { |alert, number| [LEVELS.index(alert.level), number] }.map(&:first)
      end

      def reached(name)
        %w[critical warning].find { |level| (limit = @limits[:"#{name}_#{level}"]) && yield(limit) }
      end
    end
  end
end
