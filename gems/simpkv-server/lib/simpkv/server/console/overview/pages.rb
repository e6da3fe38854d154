# frozen_string_literal: true

require 'simpkv/counted'
require 'simpkv/server/console/nodes/node_table'
require 'simpkv/server/console/overview/alerts'
require 'simpkv/server/console/overview/changes'
require 'simpkv/server/console/overview/failures'
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

            runs = RunChart.of(state['runs'])
            page(title, template, refresh: refresh, state: state, alerts: Alerts.new(state), runs: runs,
                                  failures: (indexed { Failures.new(api) } if runs))
          end

          # @yieldreturn [Object] what the index has
          # @return [Object, Missing]
          def indexed(&block)
            part(400, 500, &block)
          end

          # @param name [String] of a node
          # @param failure [Failures::Failure]
          # @return [String] the address of the report, at the resource
          def report_url(name, failure)
            hash = failure.nodes[name]
            return url('nodes', name) unless hash
            return "#{url('nodes', name, 'reports', hash)}#log" unless failure.resource

            resource_in_report(name, hash, failure.resource)
          end

          # @return [Changes, Missing, nil] nil if the index does not answer
          def changes(runs)
            indexed { Changes.new(api).read } if runs
          end

          # @param event [Hash] of the index
          # @return [String] the address of the report, at the resource
          def event_url(event)
            resource_in_report(event['certname'], event['report'], Failures.resource(event))
          end

          # @param state [Hash]
          # @return [Array<Array(String, String)>] what expires and what waits: a text, and the address of more
          def waiting(state)
            keys, spool = state.values_at('expiring_keys', 'spool')
            found = {}
            keys = keys['total'].to_i
            steps = spool['waiting'].to_i
            found['/#keys'] = "#{Counted.of(keys, 'key')} expired, or to expire within 14 days" if keys.positive?
            found['/#spool'] = "#{Counted.of(steps, 'step')} of runs in the spool of this machine" if steps.positive?
            found.map { |path, text| [text, path] }
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

        # The changes of the last day by type of the resource.
        class ChangesPage < Page
          # @return [String] HTML
          def show
            changes = subject(400, 500) { Changes.new(api).tap(&:types) }
            page('Changes', 'overview/types', changes: changes)
          end
        end

        # The wall view, which people read from afar: numbers with signs, so that colors are not all they have.
        class WallPage < SitePage
          # Seconds between two refreshes.
          REFRESH = 30
          # By the status of nodes.
          SIGNS = { 'failed' => '✖', 'changed' => '↻', 'noop' => '◌', 'unchanged' => '✔', 'unseen' => '?' }.freeze
          # The characters of an alert that can be read from afar.
          ROOM = 75
          private_constant :REFRESH, :SIGNS, :ROOM

          # @return [String] HTML
          def show
            site('Wall view', 'overview/wall', refresh: REFRESH)
          end

          private

          # @return [Array<Alerts::Alert>] those whose numbers the tiles have
          def told_by_tiles(alerts)
            alerts.all.select { |alert| alert.path.to_s.start_with?('/nodes?') }
          end

          # @return [String] the alert without its details, if it is long
          def brief(text)
            text.length > ROOM ? cut(text[/\A[^:]*/], ROOM) : text
          end

          # @param nodes [Hash] of the state
          # @return [Array<Array>] name, number, sign, class and the path of a page: failed nodes first, and those of
          #   which there are none only if that is good news
          def tiles(nodes)
            statuses = nodes['statuses'].select { |status, count| count.positive? || status == 'failed' }
            failed, *others = statuses.map { |status, count| tile(status, count) }
            silent = ['silent', nodes['overdue'], '⌛', 'failed', '/nodes?state=overdue']
            [failed, (silent if nodes['overdue'].positive?), *others].compact
          end

          def tile(status, count)
            kind = status == 'failed' && count.zero? ? 'unchanged' : status
            [status, count, SIGNS.fetch(kind, '•'), kind, url('nodes', status: status)]
          end
        end
      end
    end
  end
end
