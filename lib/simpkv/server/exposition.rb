# frozen_string_literal: true

require 'prometheus/client'
require 'prometheus/client/formats/text'

module Simpkv
  module Server
    # Metrics that are read from somewhere else at the moment when Prometheus asks for them. They are made anew at each
    # time, so that what does not exist any more has no metric.
    class Exposition
      def initialize
        @registry = Prometheus::Client::Registry.new
      end

      # Adds a value that goes up and down.
      #
      # @param name [Symbol]
      # @param text [String] its description
      # @param value [Numeric, nil] nil adds nothing
      # @param labels [Hash{Symbol => String}]
      # @return [void]
      def gauge(name, text, value, labels = {})
        metric(name, text, labels, :gauge).set(value, labels: labels) unless value.nil?
      end

      # Adds a value that only goes up while a process runs.
      #
      # @return [void]
      def counter(name, text, value, labels = {})
        metric(name, text, labels, :counter).increment(by: value, labels: labels) unless value.nil?
      end

      # @return [String] in the text format of Prometheus
      def text
        Prometheus::Client::Formats::Text.marshal(@registry)
      end

      private

      def metric(name, text, labels, type)
        @registry.get(name) || @registry.public_send(type, name, docstring: text, labels: labels.keys)
      end
    end
  end
end
