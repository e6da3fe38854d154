# frozen_string_literal: true

require 'simpkv/server/console/overview/alerts'
require 'simpkv/server/console/overview/run_chart'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Overview < Section
        # The state of the site (`/v1/status`).
        class SitePage < Page
          # @return [String] HTML
          def show
            site('Overview', 'overview/overview')
          end

          private

          # @param refresh [Integer, nil] see {Layout}
          def site(title, template, refresh: nil)
            state = subject { api.get('/v1/status') }
            return page(title, 'overview/missing', refresh: refresh, missing: state) if missing?(state)

            page(title, template, refresh: refresh, state: state, alerts: Alerts.new(state),
                                  runs: RunChart.of(state['runs']))
          end

          # @return [Boolean] whether the API has no content of the part
          def untold?(part)
            part.key?('error')
          end

          # @param part [Hash] of the state, which is not told
          # @return [String] HTML: why
          def untold(part)
            return '<p class="muted">This is being read for the first time. Load the page again.</p>' if part['pending']

            last = part['last_success']
            known = " The last time that it could be read was #{ago(last)}." if last
            %(<p class="problem">#{h(cut(part['error'], 1000))}#{known}</p>)
          end

          # @param part [Hash] of the state
          # @return [String] HTML: how old it is
          def age(part)
            %(<p class="muted">Last read: #{ago(part['time'])}.</p>)
          end

          # @param server [Hash] of the state
          # @return [String] how far its replication is behind
          def behind_text(server)
            return '-' unless server.key?('lag_seconds')
            return 'unknown' unless server['lag_seconds']

            "#{'at least ' if server['lag_unknown']}#{server['lag_seconds'].round(1)} s"
          end

          # @param server [Hash] of the state
          # @return [String] how it differs from the first one
          def lag_text(server)
            lag = server['lag']
            return 'not compared' if lag.nil?
            return 'cannot be compared' unless lag['ok']

            differences = lag.slice('missing', 'different', 'surplus').reject { |_, count| count.zero? }
            return 'none' if differences.empty?

            differences.map { |kind, count| "#{count} #{kind}" }.join(', ')
          end

          # @param unreadable [Hash] of the state
          # @return [Hash{Symbol => Object}] for the list of documents
          def unreadable_nodes(unreadable)
            total, nodes = unreadable.values_at('total', 'nodes')
            withheld = ' Who may read all keys sees their names here.' unless nodes
            text = "Nodes whose status or inventory cannot be read: #{total}. A node whose status cannot be read is " \
                   "in none of the numbers below: they are not complete.#{withheld}"
            documents = nodes.to_a.flat_map do |node|
              link = linked(node['name'], url('nodes', node['name']))
              node['documents'].map { |path, why| [link, path, why] }
            end
            { text: text, documents: documents, more: nodes ? total - nodes.length : 0 }
          end

          # @param key [Hash] of the state
          # @return [String] the path of its page
          def key_url(key)
            place = key['environment'] ? { environment: key['environment'] } : { global: true }
            url('keys', *key['name'].split('/'), **place, backend: key['backend'])
          end
        end

        # The wall view.
        class WallPage < SitePage
          # Seconds between two refreshes.
          REFRESH = 30
          private_constant :REFRESH

          # @return [String] HTML
          def show
            site('Wall view', 'overview/wall', refresh: REFRESH)
          end
        end
      end
    end
  end
end
