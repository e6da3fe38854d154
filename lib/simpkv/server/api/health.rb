# frozen_string_literal: true

module Simpkv
  module Server
    # The state of the service: /healthz, /readyz and /metrics.
    class Application
      hash_branch('healthz') do |r|
        r.is do
          at('/healthz')
          r.get { json('status' => 'ok') }
        end
      end

      hash_branch('readyz') do |r|
        r.is do
          at('/readyz')
          r.get do
            ready, parts = opts.fetch(:readiness).check(details: rights.findings?(caller))
            response['retry-after'] = Problem::RETRY_AFTER unless ready
            json({ 'status' => ready ? 'ok' : 'unavailable', **parts }, ready ? 200 : 503)
          end
        end
      end

      hash_branch('metrics') do |r|
        r.is do
          at('/metrics')
          r.get do
            response['content-type'] = Metrics::CONTENT_TYPE
            metrics.text(site, caller)
          end
        end
        r.on('v2') { pdb_metrics(r) }
      end
    end
  end
end
