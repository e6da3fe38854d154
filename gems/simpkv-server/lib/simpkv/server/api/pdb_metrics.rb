# frozen_string_literal: true

require 'simpkv/server/api/jolokia'
require 'simpkv/server/application'

module Simpkv
  module Server
    module Api
      # The metrics of PuppetDB: /metrics/v2.
      class PdbMetrics < Application
        route do |r|
          jolokia = Jolokia.new { |question| queries.ask(question) }
          rest = r.remaining_path.delete_prefix('/')
          at('/metrics/v2')
          r.post { json(jolokia.post(body(Hash, Array))) }
          r.get { json(jolokia.get(rest)) }
        end
      end
    end
  end
end
