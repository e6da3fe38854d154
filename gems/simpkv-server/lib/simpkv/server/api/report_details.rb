# frozen_string_literal: true

require 'simpkv/server/application'
require 'simpkv/server/api/node_view'

module Simpkv
  module Server
    module Api
      # Reports with their logs, and with the values of their events: /v1/report_details. A caller who may read this
      # path and all below it sees these in the answers to queries, too.
      class ReportDetails < Application
        route do |r|
          refuse_conditions
          r.is(String, String) do |certname, hash|
            at('/v1/report_details/{certname}/{hash}')
            r.get { json(plain { NodeView.new(estate, certname).report(hash) }) }
          end
        end
      end
    end
  end
end
