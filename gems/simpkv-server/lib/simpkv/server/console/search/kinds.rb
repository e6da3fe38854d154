# frozen_string_literal: true

require 'simpkv/server/console/facts/path'
require 'simpkv/server/console/nodes/node_table'
require 'simpkv/server/console/keys/place'
require 'simpkv/server/console/rows'
require 'simpkv/server/console/rules/client'

module Simpkv
  module Server
    module Console
      class Search < Section
        # What has a text in its name, by kind. Each kind is one request to the API, as the caller.
        class Kinds
          include Rows

          # Names that a page shows of each kind.
          MOST = 10
          COUNT = %w[function count].freeze
          private_constant :MOST, :COUNT

          # A name that is found: `address` of its page, and a `note` beside it, or nil.
          Item = Struct.new(:name, :address, :note)
          # - `items`: the first ones
          # - `total`: the number of all; nil if nobody has counted them, because there are more than the page shows
          # - `address`: of the page with all; nil for none
          # - `problem`: why some cannot be found; nil for nothing
          Found = Struct.new(:items, :total, :address, :problem)

          # @param api [Api]
          # @param text [String]
          # @param urls [Html]
          def initialize(api, text, urls)
            @api = api
            @text = text
            @urls = urls
          end

          # @return [Found]
          # @raise [Problem, Error] as all methods here
          def nodes
            columns = %w[certname latest_report_status latest_report_noop]
            rows, total = some('nodes', ['extract', columns, having('certname', @text)], [%w[certname asc]])
            items = rows.map do |row|
              name, *outcome = row.values_at('certname', 'latest_report_status', 'latest_report_noop')
              Item.new(name, url('nodes', name), NodeTable.status(*outcome))
            end
            Found.new(items, total, url('nodes', q: "(?i)#{Regexp.escape(@text)}"))
          end

          # @return [Found]
          def keys
            answer = @api.get('/v1/key_names', 'q' => @text, 'limit' => MOST)
            items = answer['keys'].map { |key| key_item(*key.values_at('name', 'environment', 'backend')) }
            problem = answer['errors'].map { |backend, why| "The backend #{backend} cannot be read: #{why}" }
            Found.new(items, answer['total'], nil, (problem.join('. ') unless problem.empty?))
          end

          # @return [Found]
          def facts
            names, total = some('fact-names', having('name', @text), [%w[name asc]])
            items = names.map { |name| Item.new(name, FactPath.new([name]).address) }
            Found.new(items, total, url('facts', filter: @text))
          end

          # @return [Found]
          def resources
            query = ['extract', [COUNT, 'type', 'title'], having('title', @text), %w[group_by type title]]
            # In this order, SQLite has the first ones without a look at all.
            rows, total = some('resources', query, [%w[type asc], %w[title asc]])
            items = rows.map do |row|
              Item.new("#{row['type']}[#{row['title']}]", url('resources', row['type'], title: row['title']),
                       Counted.of(row['count'], 'node'))
            end
            Found.new(items, total)
          end

          # @return [Found]
          def rules
            rules = Rules::Client.new(@api).all(errors: {})
            of_list(rules.map do |rule|
              Item.new(rule['description'] || rule['uuid'], url('rules', rule['uuid']), rule['phase'])
            end)
          end

          # @return [Found] users and roles that are declared
          def users
            declared = @api.get('/v1/access')
            users, roles = declared.values_at('users', 'roles').map { |list| list.map { |each| each['name'] } }
            of_list(users.map { |name| Item.new(name, url('access'), 'user') } +
                    roles.map { |name| Item.new(name, url('access', 'roles'), 'role') })
          end

          private

          def url(*segments, **query)
            @urls.url(*segments, **query)
          end

          # One row more than the page shows tells whether there are more: to count them takes as long again.
          #
          # @return [Array(Array, Integer)]
          def some(entity, query, order)
            rows = @api.find(entity, query, order: order, limit: MOST, count: false).rows
            [rows.first(MOST), (rows.length if rows.length <= MOST)]
          end

          def of_list(items)
            found = items.select { |item| item.name.downcase.include?(@text.downcase) }
            Found.new(found.first(MOST), found.length)
          end

          def key_item(name, environment, backend)
            scope = environment ? { 'environment' => environment } : { 'global' => 'true' }
            place = Keys::Place.new(name.split('/'), false, scope.merge('backend' => backend))
            Item.new(name, place.url, "#{place.title}, backend #{backend}")
          end
        end
      end
    end
  end
end
