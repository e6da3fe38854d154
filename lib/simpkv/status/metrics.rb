# frozen_string_literal: true

require 'simpkv/status/exposition'
require 'simpkv/status/part'

module Simpkv
  module Status
    # Metrics of the parts that read them by themselves, and of what {State} has read.
    class Metrics
      # @param source [Symbol] see {Part::METRICS}
      # @return [Hash{String => Class}] the parts with metrics from there, by name
      def self.parts(source)
        Part.all.select { |_, type| source == type::METRICS }
      end

      # Adds which parts could be read, and their metrics.
      #
      # @param page [Exposition]
      # @param state [Hash{String => Hash}] see {State#get}
      # @return [void]
      def self.of_state(page, state)
        state.each do |name, part|
          page.gauge(:simpkv_part_readable, 'Whether a part of the state could be read.', part['error'] ? 0 : 1,
                     part: name)
        end
        parts(:state).each { |name, type| type.metrics(page, state.fetch(name, {})) }
      end

      # @return [Exposition] the metrics if nothing could be read
      def self.unreadable
        Exposition.new.tap { |page| readable(page, false) }
      end

      # @param page [Exposition]
      # @param complete [Boolean]
      # @return [void]
      def self.readable(page, complete)
        page.gauge(:simpkv_site_readable, 'Whether nodes and keys could be read for the metrics about them.',
                   complete ? 1 : 0)
      end

      # @param site [Site]
      # @param caller [#to_s, nil] in whose name to read: see {Site}
      # @param backends [Array<String>] see {Part#initialize}
      # @param names [Array<String>, nil] only these parts; nil for all
      def initialize(site, caller = nil, backends: nil, names: nil)
        types = Metrics.parts(:reading)
        types = types.slice(*names) if names
        @parts = types.transform_values { |type| type.new(site, caller, backends: backends) }
      end

      # @param name [String]
      # @return [Part]
      def part(name)
        @parts.fetch(name)
      end

      # Reads, and adds the metrics, and whether all could be read. A site that does not configure an estate, and has
      # none, has no nodes.
      #
      # @param page [Exposition]
      # @return [void]
      # @raise [ConfigError]
      def add_to(page)
        Metrics.readable(page, @parts.each_value.map { |part| part.measure(page) }.all?)
      end
    end
  end
end
