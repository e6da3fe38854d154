# frozen_string_literal: true

require 'simpkv/audit/changes'
require 'simpkv/audit/trail'

module Simpkv
  module Cli
    # The changes of a key in the audit log of a backend, as far as this process can read it.
    class AuditTrail
      # @param backend [ChosenBackend]
      # @param path [String] of the key in the store
      def initialize(backend, path)
        @file = backend.settings['audit']&.fetch('to')
        @backend = backend.title
        @path = path
      end

      # @return [String, nil] why the log cannot be read; nil if it can be
      def obstacle
        return "there is no audit log: the backend lacks the option 'audit'" if @file.nil?
        return 'the audit log goes to syslog, which this command does not read' if @file.match?(/\Asyslog(:|\z)/)

        @obstacle
      end

      # @param since [Time, nil] older lines may be left out
      # @param limit [Integer, nil] the most lines
      # @return [Array<Hash{String => Object}>] lines, the newest first; none if there is an {#obstacle}
      def lines(since: nil, limit: nil)
        found = []
        return found if obstacle

        Audit::Trail.new(@file, @backend, @path).each(since: since) do |line|
          found << line
          break if found.length == limit
        end
        found
      rescue SystemCallError, InvalidError => e
        @obstacle = "the audit log cannot be read: #{e.message}"
        []
      end

      # @param line [Hash{String => Object}]
      # @return [String] such as `cn=compilers,dc=site (user puppet, node web1)`
      def self.author(line)
        "#{line['identity']} (user #{line['user']}, node #{line['node']})"
      end

      # @param line [Hash{String => Object}]
      # @return [String] its time, to the second
      def self.time(line)
        line['time'].sub(/\.\d+Z\z/, 'Z')
      end
    end
  end
end
