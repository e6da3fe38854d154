# frozen_string_literal: true

require 'simpkv/access/site'
require 'simpkv/status'
require 'simpkv/status/site_estate'

module Simpkv
  module Server
    # The stores of the site, for the service: with its estate and its access control.
    class Site < Status::Site
      # @param caller [#to_s, nil] who asks
      # @return [Estate]
      # @raise [ConfigError]
      def estate(caller)
        Status::SiteEstate.new(self).estate(caller)
      end

      # @return [Access::Site, nil] access control of the site; nil without the option `access`
      # @raise [ConfigError]
      def access
        Access::Site.new(options, vardirs, warn) if options['access']
      end
    end
  end
end
