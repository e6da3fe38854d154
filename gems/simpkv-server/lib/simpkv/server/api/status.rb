# frozen_string_literal: true

require 'simpkv/server/application'

module Simpkv
  module Server
    module Api
      # The state of the site at one glance, and measurements of the last day: /v1/status.
      class Status < Application
        route do |r|
          refuse_conditions
          r.is(['', true]) do
            at('/v1/status')
            r.get do
              query
              json(opts.fetch(:status).report(view))
            end
          end
          r.is('history') do
            at('/v1/status/history')
            r.get { json(plain { opts.fetch(:status).history(view) }) }
          end
        end

        private

        # @return [StatusView]
        def view
          StatusView.new(rights, caller, request)
        end
      end
    end
  end
end
