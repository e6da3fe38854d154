# frozen_string_literal: true

require 'simpkv/config/site_file'
require 'simpkv/config/validation'

module Simpkv
  # Checks a whole file of a site, as {SiteFile} reads it, before something else writes it.
  module SiteCheck
    # Checks what functions and the owners of sections check when they read the file, for all backends.
    # It opens no store and reads no other file. An unknown option is an error, not a warning.
    #
    # @param text [String] the content of the file
    # @param title [String] its name, for messages
    # @param types [Array<String>] the types for which there are plugins
    # @return [void]
    # @raise [ConfigError] the message names the file and the option, and shows no value
    # @raise [Gems::MissingError] the gem of a section is not there, and all else is right
    def self.check(text, title, types)
      check_parts(SiteFile.parse(text, title), types)
    rescue ConfigError => e
      raise e.naming(title), cause: nil
    end

    class << self
      private

      def check_parts(site, types)
        names = Config::Sections.names & site.keys
        there = names & Config::Sections.all.keys
        sections = there.map { |name| Config::Sections.convert(site, name) }
        options = site.reject { |name, _| names.include?(name) }
        check_backends(options, used(sections, options), types)
        Config::Sections.demand_of(site)
      end

      # @return [Array<String>] the names of the backends that sections use
      def used(sections, options)
        using = sections.select { |section| section.key?('backend') }
        named = using.map { |section| section['backend'] }.compact
        using.any? && named.empty? ? [usual(options)] : named
      end

      # @return [String] the name of the backend of a call that chooses none, and of an estate without one of its own
      def usual(options)
        Config.backend_for(options, nil)
      end

      # The keys are global: a file is for all environments.
      def check_backends(options, used, types)
        Config::CALL.each { |option| Config.flag(options, option.name) }
        named = [*(usual(options) if options['backend']), *used]
        (named | Config.backends_of(options).keys).each do |name|
          merged = options.merge('backend' => name, 'global' => true)
          Validation.check(merged, types)
          doubt = Config.doubts(merged).first
          raise ConfigError, doubt if doubt
        end
      end
    end
  end
end
