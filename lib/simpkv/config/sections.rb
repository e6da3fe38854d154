# frozen_string_literal: true

require 'simpkv/config/options'
require 'simpkv/gems'

module Simpkv
  module Config
    # The sections of the file of the command beside the options of functions, such as `estate`. Each is a module in a
    # file of its name, in any gem: see {Gems}. It extends {Definitions}, and has the constants ABOUT and OPTIONS, and
    # the method `convert`, which takes a Hash, adds defaults, and raises {ConfigError}.
    module Sections
      KIND = 'config/sections'
      private_constant :KIND

      # @return [Array<String>] the names of all sections that any gem has, installed or not
      def self.names
        Gems.known(KIND)
      end

      # @return [Hash{String => Module}] those that are installed, by name
      def self.all
        Gems.all(KIND)
      end

      # @param name [String]
      # @return [Module]
      # @raise [ConfigError] its gem is not installed
      def self.demand(name)
        Gems.demand(KIND, name, "the section '#{name}' of the options")
      end

      # @param site [Hash] the options of the site
      # @return [void]
      # @raise [ConfigError] it has a section whose gem is not installed
      def self.demand_of(site)
        (names & site.keys).each { |name| demand(name) }
      end

      # @param site [Hash] the options of the site
      # @param name [String] of a section
      # @return [Hash{String => Object}] its options with their defaults
      # @raise [ConfigError] an option is unknown or has the wrong type, or the gem of the section is not installed
      def self.convert(site, name)
        options = site[name] || {}
        raise ConfigError, "'#{name}' in simpkv configuration must be a Hash" unless options.is_a?(Hash)

        demand(name).convert(options)
      end
    end
  end
end
