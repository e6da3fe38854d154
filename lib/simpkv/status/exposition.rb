# frozen_string_literal: true

module Simpkv
  module Status
    # Metrics in the text format of Prometheus. A caller that reads the values from elsewhere makes a new page each
    # time, so that a thing that is gone has no metric. The service keeps one page for its own counters. Not
    # thread-safe.
    class Exposition
      ESCAPES = { '\\' => '\\\\', "\n" => '\n', '"' => '\"' }.freeze
      private_constant :ESCAPES

      # - `type`: `gauge`, `counter` or `histogram`
      # - `samples`: values, or {Histogram}s, by labels
      Metric = Struct.new(:type, :text, :samples)

      # - `counts`: of the observed values up to each bound, the last of which is infinite
      # - `total`: the sum of the observed values
      Histogram = Struct.new(:counts, :total) do
        def self.of(bounds)
          new([*bounds, Float::INFINITY].to_h { |bound| [bound, 0.0] }, 0.0)
        end

        def add(value)
          counts.each_key { |bound| counts[bound] += 1 if value <= bound }
          self.total += value
        end
      end
      private_constant :Metric, :Histogram

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

      # Adds an observed value to a histogram.
      #
      # @param bounds [Array<Numeric>] the upper bounds of its buckets, ascending
      # @return [void]
      def observe(name, text, value, bounds, labels = {})
        (metric(name, text, 'histogram').samples[labels] ||= Histogram.of(bounds)).add(value)
      end

      # @return [String] in the text format of Prometheus
      def text
        @metrics.map do |name, metric|
          lines = metric.samples.map { |labels, value| lines(name, labels, value) }
          "# TYPE #{name} #{metric.type}\n# HELP #{name} #{metric.text}\n#{lines.join}"
        end.join
      end

      private

      def metric(name, text, type)
        @metrics[name] ||= Metric.new(type, text, {})
      end

      def lines(name, labels, value)
        return line(name, labels, value) unless value.is_a?(Histogram)

        buckets = value.counts.map do |bound, count|
          line("#{name}_bucket", labels.merge(le: bound == Float::INFINITY ? '+Inf' : bound), count)
        end
        [*buckets, line("#{name}_sum", labels, value.total),
         line("#{name}_count", labels, value.counts.values.last)].join
      end

      def line(name, labels, value)
        "#{name}#{braces(labels)} #{value}\n"
      end

      def braces(labels)
        return if labels.empty?

        "{#{labels.map { |name, value| %(#{name}="#{value.to_s.gsub(/[\\\n"]/, ESCAPES)}") }.join(',')}}"
      end
    end
  end
end
