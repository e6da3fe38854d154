# frozen_string_literal: true

require 'simpkv/estate'

module Simpkv
  module Status
    # The estate of a site.
    class SiteEstate
      # @param site [Site]
      def initialize(site)
        @site = site
      end

      # @param caller [#to_s, nil] who asks the service; nil for the command
      # @return [Estate]
      # @raise [ConfigError]
      def estate(caller)
        @site.kept([:estate, caller.to_s]) do
          Estate.new(@site.options, @site.vardirs, @site.warn, node: caller&.to_s, anywhere: caller.nil?)
        end
      end

      # @return [String, nil] the name of its backend; nil if its options are wrong
      def backend
        @site.backend(Config::Sections.convert(@site.options, 'estate')['backend']).name
      rescue ConfigError
        nil
      end

      # @return [Boolean] whether the site does without an estate: the file of the command has no section `estate`, and
      #   the store has none
      def optional?
        !@site.options.key?('estate') && estate(nil).absent?
      rescue Error, ConfigError
        false
      end
    end
  end
end
