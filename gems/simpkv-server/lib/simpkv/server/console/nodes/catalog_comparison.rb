# frozen_string_literal: true

module Simpkv
  module Server
    module Console
      # What differs between the stored catalogs of two nodes, from the index.
      class CatalogComparison
        ANY = %w[= node_state any].freeze
        # Members beside parameters that can differ.
        MEMBERS = %w[exported file line tags].freeze
        private_constant :ANY, :MEMBERS

        # - `left`, `right`: the digests of the resource in the catalogs; nil if it is not there
        Difference = Struct.new(:type, :title, :left, :right) do
          # @return [Boolean] whether both catalogs have it
          def both?
            !left.nil? && !right.nil?
          end
        end

        # A value that differs; `present` says in which of the catalogs it is there.
        Value = Struct.new(:name, :left, :right, :present)

        # @param api [Api]
        # @param certnames [Array(String, String)]
        def initialize(api, certnames)
          @api = api
          @certnames = certnames
        end

        # @return [Array<Difference>] sorted
        # @raise [Problem, Error]
        def differences
          first, second = @certnames.map { |certname| digests(certname) }
          names = (first.keys | second.keys).reject { |name| first[name] == second[name] }
          names.sort.map { |name| Difference.new(*name, first[name], second[name]) }
        end

        # @param differences [Array<Difference>] some of them
        # @return [Hash{Difference => Array<Value>}] what differs in those that both have
        # @raise [Problem, Error]
        def values(differences)
          both = differences.select(&:both?)
          return {} if both.empty?

          first, second = @certnames.map { |certname| resources(certname, both) }
          both.to_h do |difference|
            key = [difference.type, difference.title]
            [difference, differing(first.fetch(key, {}), second.fetch(key, {}))]
          end
        end

        private

        def digests(certname)
          query = ['extract', %w[type title resource], ['and', ['=', 'certname', certname], ANY]]
          @api.find('resources', query).rows.to_h { |row| [row.values_at('type', 'title'), row['resource']] }
        end

        def resources(certname, differences)
          named = differences.map { |each| ['and', ['=', 'type', each.type], ['=', 'title', each.title]] }
          rows = @api.find('resources', ['and', ['=', 'certname', certname], ANY, ['or', *named]]).rows
          rows.to_h { |row| [row.values_at('type', 'title'), row] }
        end

        def differing(first, second)
          parameters = [first, second].map { |row| row['parameters'] || {} }
          members = [first, second].map { |row| row.slice(*MEMBERS) }
          of_hashes(*parameters) + of_hashes(*members)
        end

        def of_hashes(first, second)
          (first.keys | second.keys).reject { |name| first[name] == second[name] }.sort.map do |name|
            Value.new(name, first[name], second[name], [first.key?(name), second.key?(name)])
          end
        end
      end
    end
  end
end
