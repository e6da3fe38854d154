# frozen_string_literal: true

require 'set'
require 'time'

module Simpkv
  module Server
    module Archives
      # Makes the payloads of commands of the rows that queries answer with. PuppetDB refuses a payload with a member
      # that it does not know.
      module Wire
        CATALOG = %w[certname environment producer producer_timestamp version transaction_uuid catalog_uuid code_id
                     job_id].freeze
        RESOURCE = %w[type title exported tags file line parameters].freeze
        REPORT = %w[certname environment producer producer_timestamp puppet_version report_format configuration_version
                    start_time end_time noop noop_pending corrective_change transaction_uuid catalog_uuid code_id job_id
                    cached_catalog_status status type].freeze
        # The members of a resource in a report, of which each event of a query has a copy; and those of an event.
        SUBJECT = %w[resource_type resource_title file line containment_path].freeze
        EVENT = %w[status timestamp property name new_value old_value message corrective_change].freeze
        SKIPPED = 'skipped'
        private_constant :CATALOG, :RESOURCE, :REPORT, :SUBJECT, :EVENT, :SKIPPED

        class << self
          # @param row [Hash] of `factsets`
          # @param packages [Array<Hash>] rows of `package_inventory`
          # @return [Hash] of `replace facts`
          def facts(row, packages)
            values = data(row, 'facts').to_h { |fact| fact.values_at('name', 'value') }
            packages = packages.map { |each| each.values_at('package_name', 'version', 'provider') }
            row.slice('certname', 'environment', 'producer', 'producer_timestamp')
               .merge('values' => values, 'package_inventory' => packages)
          end

          # @param row [Hash] of `catalogs`
          # @return [Hash] of `replace catalog`
          def catalog(row)
            resources = data(row, 'resources')
            with_resources(row.slice(*CATALOG), resources).merge('edges' => edges(resources, data(row, 'edges')))
          end

          # @param row [Hash] of `resources`
          # @return [Hash] a resource of `replace catalog`
          def resource(row)
            RESOURCE.to_h { |name| [name, row[name]] }.merge('tags' => row['tags'].to_a.uniq.sort)
          end

          # @param resources [Array<Hash>] rows of `resources`
          # @param rows [Array<Hash>] those of `edges`
          # @return [Array<Hash>] the edges of `replace catalog` between these resources
          def edges(resources, rows)
            known = resources.to_set { |each| each.values_at('type', 'title') }
            rows.map { |row| edge(row) }
                .select { |edge| edge.values_at('source', 'target').all? { |one| known.include?(one.values) } }
                .sort_by(&:to_s)
          end

          # @param node [Hash] a row of `nodes`
          # @param resources [Array<Hash>] rows of `resources`, which the node exports
          # @return [Hash] of `replace catalog`, for a node whose catalog is not stored
          def exports(node, resources)
            # A node whose first run is not complete has no time yet. The service that imports it keeps whole seconds.
            time = node['catalog_timestamp'] || Time.at(Time.now.to_i).utc.iso8601(3)
            members = CATALOG.to_h { |name| [name, nil] }
                             .merge('certname' => node['certname'], 'environment' => node['catalog_environment'],
                                    'producer_timestamp' => time, 'version' => time)
            with_resources(members, resources).merge('edges' => [])
          end

          # @param row [Hash] of `reports`
          # @return [Hash, nil] of `store report`; nil if another one has replaced it, and its details, since the query
          def report(row)
            return if row.dig('logs', 'data').nil?

            resources = data(row, 'resource_events').group_by { |event| event.slice(*SUBJECT) }
            row.slice(*REPORT).merge('configuration_version' => row['configuration_version'].to_s,
                                     'metrics' => data(row, 'metrics'), 'logs' => data(row, 'logs'),
                                     'resources' => resources.map { |subject, events| subject(subject, events) })
          end

          private

          def data(row, name)
            row.dig(name, 'data') || []
          end

          def with_resources(members, resources)
            resources = resources.sort_by { |each| each.values_at('type', 'title') }
            members.merge('resources' => resources.map { |each| resource(each) })
          end

          def edge(row)
            ends = %w[source target].to_h do |name|
              [name, { 'type' => row["#{name}_type"], 'title' => row["#{name}_title"] }]
            end
            ends.merge('relationship' => row['relationship'])
          end

          def subject(subject, events)
            skipped, others = events.partition { |event| event['status'] == SKIPPED }
            corrective = others.map { |event| event['corrective_change'] }.compact
            subject.merge('containment_path' => subject['containment_path'] || [], 'skipped' => skipped.any?,
                          'timestamp' => events.first['timestamp'],
                          'corrective_change' => corrective.any? ? corrective.include?(true) : nil,
                          'events' => others.map { |event| event.slice(*EVENT) })
          end
        end
      end
      private_constant :Wire
    end
  end
end
