# frozen_string_literal: true

require 'simpkv/backend/vlv_feature'

module Simpkv
  module Cli
    # Reports the servers that give values away to identities that may not read them.
    class HiddenValuesExamination
      # @param settings [Hash{String => Object}] of a backend on 389-DS
      # @param findings [Findings] to be filled
      # @param remedies [DirectoryRemedies]
      def initialize(settings, findings, remedies)
        @feature = VlvFeature.new(settings)
        @findings = findings
        @remedies = remedies
      end

      # @param uris [Array<String>] of the servers that answer
      # @return [void]
      def perform(uris)
        servers = @feature.servers(uris).reject { |server| server.state == :closed }
        return @findings.ok('hidden values', 'no server lets everybody use virtual list views') if servers.empty?

        servers.each { |server| report(server) }
      end

      private

      def report(server)
        return @findings.unknown('hidden values', server.why) unless server.state == :open

        @findings.problem('hidden values', server.why, @remedies.for_hidden_values)
      end
    end
  end
end
