# frozen_string_literal: true

module Simpkv
  class Estate
    # Reads reports with their details while runs replace them: a run writes the details of its report first.
    class RereadReports
      # The seconds between two reads.
      BETWEEN = 0.2
      LOST = 'its details are lost: the process has died that was to replace it'
      private_constant :BETWEEN, :LOST

      # @param reports [Reports]
      def initialize(reports)
        @reports = reports
      end

      # Reads all reports of a node once more if one of them has lost its details.
      #
      # @param certname [String]
      # @param count [Integer] of reports, at most
      # @param strict [Boolean] see {Reports#all}, as for the errors
      # @yieldparam key [String] of a document that cannot be read, or of a report without its details
      # @yieldparam why [String]
      # @return [Array<Hash>] newest first
      def all(certname, count, strict: false, &block)
        reports, lost = read(certname, count, strict, &block)
        if lost.any?
          sleep(BETWEEN)
          reports, lost = read(certname, count, strict, &block)
        end
        lost.each { |key| tell(key, &block) }
        reports
      end

      private

      # @return [Array(Array<Hash>, Array<String>)] reports, and the keys of those without their details
      def read(certname, count, strict, &block)
        lost = []
        reports = @reports.all(certname, strict: strict, &block).first(count)
        [@reports.with_details(certname, reports) { |key| lost << key }, lost]
      end

      def tell(key)
        raise MalformedError.unreadable(key, LOST) unless block_given?

        yield key, LOST
      end
    end
    private_constant :RereadReports
  end
end
