# frozen_string_literal: true

require 'simpkv/config/sections'

module Simpkv
  # The sections and options beside `simpkv::options` in a file: those of the command's own file, or those that belong
  # to simpkv in a file of Hiera, which may have keys of others (docs/adr/0087).
  module SiteSections
    # The key of the options in a file of Hiera.
    HIERA = 'simpkv::options'

    # The name of the command's own file. Only a file of Hiera has other keys with `::`.
    OWN = 'simpkv.yaml'
    private_constant :OWN

    class << self
      # @param data [Hash] the content of a file, with {HIERA}
      # @param title [String] the name of the file
      # @return [Hash] the options, with the sections beside them
      # @raise [ConfigError] they are no Hash, a section is in both places, or its name is misspelt
      def with_options(data, title)
        options, beside = data[HIERA], data.reject { |name, _| name == HIERA } # rubocop:disable Style/ParallelAssignment
        raise ConfigError, 'expected the options of simpkv, a Hash' unless options.is_a?(Hash)

        beside = beside.select { |name, value| ours?(name, value) } unless own?(data, title)
        twice = beside.keys.find { |name| options.key?(name) }
        return options.merge(beside) unless twice

        raise ConfigError, "'#{twice}' is in '#{HIERA}' and beside it: remove one of the two, so that it is clear " \
                           'which one counts'
      end

      # @param data [Hash] the content of a file
      # @param title [String] the name of the file
      # @return [Boolean] whether it is the command's own file, and none of Hiera
      def own?(data, title)
        File.basename(title) == OWN && (data.keys - [HIERA]).none? { |name| name.to_s.include?('::') }
      end

      private

      # A section can be simpkv's if it has an option of simpkv, or if it has misspelt ones only. The reader of the
      # section refuses everything else in it.
      def ours?(name, value)
        return false unless value.is_a?(Hash)
        return backends?(value) if name == 'backends'
        return refuse_misspelt(name, value) unless Config::Sections.names.include?(name)

        names = names_in(name)
        names.nil? || (value.keys & names).any? || all_misspelt?(value.keys, names)
      end

      def all_misspelt?(members, names)
        members.any? && members.all? { |member| Spelling.nearest(member, names) }
      end

      # @return [Array<String>, nil] the names of the options of a section; nil if its gem is missing: then the reader
      #   of the section reports it
      def names_in(section)
        found = Config::Sections.all[section]
        found && found::OPTIONS.map(&:name)
      end

      def backends?(value)
        value.values.any? { |backend| backend.is_a?(Hash) && backend.key?('id') && Config::TYPES.key?(backend['type']) }
      end

      # @return [false] it is a key of somebody else
      def refuse_misspelt(name, value)
        section = Spelling.nearest(name, Config::Sections.names)
        return false unless section && value.any? && (value.keys - (names_in(section) || [])).empty?

        raise ConfigError, "'#{name}', beside '#{HIERA}', has options of the section '#{section}': correct its name"
      end
    end
  end
end
