# frozen_string_literal: true

require 'roda'

module Simpkv
  module Server
    # An application of Roda for each section of the paths, as one application of Rack.
    class Sections < Roda
      # @param sections [Hash{String => Class}] by the path below which it is, without a slash at the begin: of two that
      #   suit a request, the first one gets it
      # @param rest [Class] for other requests
      # @param parts [Hash{Symbol => Object}] the `opts` of each
      # @return [#call] the application of Rack
      def self.compose(sections, rest, **parts)
        apps = sections.transform_values { |section| started(section, parts) }
        others = started(rest, parts)
        composed = Class.new(self) do
          route do |r|
            apps.each { |path, app| r.on(path) { r.run(app) } }
            r.run(others)
          end
        end
        composed.freeze.app
      end

      def self.started(section, parts)
        configured = Class.new(section)
        configured.opts.merge!(parts)
        configured.freeze.app
      end
      private_class_method :started
    end
  end
end
