# frozen_string_literal: true

module Simpkv
  module Status
    # Metrics that are read from somewhere else at the moment when somebody asks for them, in the text format of
    # Prometheus. They are made anew at each time, so that what does not exist any more has no metric. The command makes
    # them without the library that the service uses for its own counters.
    class Exposition
      ESCAPES = { '\\' => '\\\\', "\n" => '\n', '"' => '\"' }.freeze
      private_constant :ESCAPES

      # - `type`: `gauge` or `counter`
      # - `samples`: values by labels
      Metric = Struct.new(:type, :text, :samples)
      private_constant :Metric

      def initialize
        @metrics = {}
      end

      # Adds a value that goes up and down.
      #
      # @param name [Symbol]
      # @param text [String] its description
      # @param value [Numeric, nil] nil adds nothing
      # @param labels [Hash{Symbol => String}]
      # @return [void]
      def gauge(name, text, value, labels = {})
        metric(name, text, 'gauge').samples[labels] = value.to_f unless value.nil?
      end

      # Adds to a value that only goes up while a process runs.
      #
      # @return [void]
      def counter(name, text, value, labels = {})
        return if value.nil?

        samples = metric(name, text, 'counter').samples
        samples[labels] = samples.fetch(labels, 0.0) + value
      end

      # @return [String] in the text format of Prometheus
      def text
        @metrics.map do |name, metric|
          lines = metric.samples.map { |labels, value| "#{name}#{braces(labels)} #{value}\n" }
          "# TYPE #{name} #{metric.type}\n# HELP #{name} #{metric.text}\n#{lines.join}"
        end.join
      end

      private

      def metric(name, text, type)
        @metrics[name] ||= Metric.new(type, text, {})
      end

      def braces(labels)
        return if labels.empty?

        "{#{labels.map { |name, value| %(#{name}="#{value.to_s.gsub(/[\\\n"]/, ESCAPES)}") }.join(',')}}"
      end
    end
  end
end
