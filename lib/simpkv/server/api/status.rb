# frozen_string_literal: true

module Simpkv
  module Server
    # The state of the site at one glance: /v1/status.
    class Application
      hash_branch('/v1', 'status') do |r|
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
