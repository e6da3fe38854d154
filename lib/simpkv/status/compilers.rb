# frozen_string_literal: true

require 'simpkv/estate'

module Simpkv
  module Status
    # The compilers that have stored counters of their connections within the last hour: see {Estate::Counters}.
    module Compilers
      # Counters of a server that are added up.
      SUMS = %w[connects failures timeouts].freeze
      private_constant :SUMS

      # @param estate [Estate]
      # @return [Array<Hash{String => Object}>] by name: `name`, `time`, `pid`, `version` of simpkv and `keys` (see
      #   {Estate::KeyFingerprints}) if the compiler has stored them, and `connects`, `failures` and `timeouts` of all
      #   its connections since its process started
      # @raise [Error, ConfigError] not all counters can be read
      def self.of(estate)
        estate.counters.recent.sort.map do |name, counters|
          servers = counters['pools'].flat_map { |pool| pool['servers'] }
          sums = SUMS.to_h { |member| [member, servers.sum { |server| server[member] || 0 }] }
          { 'name' => name }.merge(counters.slice('time', 'pid', 'version', 'keys'), sums)
        end
      end

      # @param compilers [Array<Hash>] of {of}
      # @return [Hash{String => Hash{String => Array<String>}}] by backend, if the key files of the compilers differ: by
      #   fingerprint, the names of the compilers
      def self.differing_keys(compilers)
        prints = Hash.new { |all, backend| all[backend] = Hash.new { |names, print| names[print] = [] } }
        compilers.each do |compiler|
          compiler.fetch('keys', {}).each { |backend, print| prints[backend][print] << compiler['name'] }
        end
        prints.select { |_, names| names.length > 1 }
      end

      # @param groups [Hash{String => Array<String>}] names of compilers, by what they have
      # @return [String] in words, with at most 5 names each
      def self.list(groups)
        groups.sort.map do |what, names|
          more = " and #{names.length - 5} more" if names.length > 5
          "#{what} on #{names.sort.first(5).join(', ')}#{more}"
        end.join('; ')
      end
    end
  end
end
