# frozen_string_literal: true

require 'simpkv/server/application'

module Simpkv
  module Server
    module Api
      # The state of the site at one glance: /v1/status.
      class Status < Application
        route do |r|
          refuse_conditions
          r.is(['', true]) do
            at('/v1/status')
            r.get do
              query
              json(opts.fetch(:status).report(StatusView.new(rights, caller, request)))
            end
          end
        end
      end
    end
  end
end
