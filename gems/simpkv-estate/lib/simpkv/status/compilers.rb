# frozen_string_literal: true

require 'simpkv/counted'
require 'simpkv/estate'

module Simpkv
  module Status
    # The compilers that have stored counters of their connections within the last hour, and those that have
    # dropped something within a day: see {Estate::Counters}.
    module Compilers
      # Counters of a server that are added up.
      SUMS = %w[connects failures timeouts].freeze
      private_constant :SUMS

      # @param estate [Estate]
      # @return [Array<Hash{String => Object}>] by name: `name`, `time`, `pid`, `version` of simpkv and `keys` (see
      #   {Estate::KeyFingerprints}) if the compiler has stored them, `dropped` (see {Estate::Counters}) if it has
      #   dropped what runs report, and `connects`, `failures` and `timeouts` of all
      #   its connections since its process started
      # @raise [Error, ConfigError] not all counters can be read
      def self.of(estate)
        estate.counters.recent_or_dropped.sort.map do |name, counters|
          servers = counters['pools'].flat_map { |pool| pool['servers'] }
          sums = SUMS.to_h { |member| [member, servers.sum { |server| server[member] || 0 }] }
          { 'name' => name }.merge(counters.slice('time', 'pid', 'version', 'keys', 'dropped'), sums)
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

      # @param compilers [Array<Hash>] of {of}
      # @return [Array<String>] a sentence for each thing that needs attention
      def self.warnings(compilers)
        [*different_versions(compilers), *different_keys(compilers), *lost_reports(compilers)]
      end

      def self.different_versions(compilers)
        versions = compilers.select { |each| each['version'] }.group_by { |each| each['version'] }
        return if versions.length <= 1

        names = versions.transform_values { |all| all.map { |each| each['name'] } }
        "The compilers have different versions of simpkv: #{list(names)}."
      end
      private_class_method :different_versions

      def self.different_keys(compilers)
        differing_keys(compilers).map do |backend, prints|
          "The files of keys of the backend '#{backend}' differ: #{list(prints)}."
        end
      end
      private_class_method :different_keys

      def self.lost_reports(compilers)
        names = dropped(compilers)
        return if names.empty?

        "What runs reported was dropped, because the server of writes failed: #{names.join(', ')}."
      end
      private_class_method :lost_reports

      # @param compilers [Array<Hash>] of {of}
      # @param now [Time]
      # @return [Array<String>] in words, those that have dropped what runs reported within the last day: at most 5
      def self.dropped(compilers, now = Time.now)
        limit = (now.utc - Estate::Counters::DROPPED_FOR).iso8601
        recent = compilers.select { |compiler| compiler.dig('dropped', 'time').to_s > limit }
        names = recent.first(5).map do |compiler|
          count, time = compiler['dropped'].values_at('count', 'time')
          "#{Counted.of(count, 'time')} on #{compiler['name']}, the last at #{time}"
        end
        recent.length > 5 ? names.push("and on #{recent.length - 5} more") : names
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
