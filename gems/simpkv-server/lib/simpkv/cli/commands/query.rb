# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'

module Simpkv
  module Cli
    module Commands
      # Answers a question about the estate.
      class Query < EstateCommand
        SECTION = :nodes
        SUMMARY = 'ask about nodes, facts, resources and reports in the query language of PuppetDB'
        ARGUMENTS = 'QUERY'
        DESCRIPTION = <<~TEXT
          Prints the rows that a query selects. The query is in PQL, or an AST in JSON, both as PuppetDB documents them
          (docs/query.md); - reads it from standard input. The answer comes from an index that the command makes at its
          first use, which takes some time, and compares with the store at each use. It needs no service, and the gem
          simpkv-server. Secrets are not in the index. Exits with 65 if the query is wrong.
        TEXT
        EXAMPLES = {
          "simpkv query 'nodes[certname] { facts { name = \"kernel\" and value = \"Linux\" } }'" => 'Nodes by a fact',
          "simpkv query 'resources[certname, title] { type = \"Package\" }' -o json" => 'Resources, for a program',
          "simpkv query '[\"from\", \"nodes\", [\"extract\", [[\"function\", \"count\"]]]]'" => 'An AST: how many nodes'
        }.freeze

        def run(text)
          Gems.load_for('simpkv query', 'simpkv-server') { require 'simpkv/query/session' }
          text = $stdin.read if text == '-'
          rows = on_estate { |estate| rows(estate, text) }
          output.print(rows) { table(rows) }
        end

        private

        def rows(estate, text)
          Simpkv::Query::Session.new(estate, configuration.section('server')).rows(text)
        rescue InvalidError, Simpkv::Query::LimitError => e
          raise Failure.new(e.message, Failure::DATA), cause: nil
        end

        def table(rows)
          names = rows.flat_map(&:keys).uniq
          return [] if names.empty?

          Output.table([names, *rows.map { |row| names.map { |name| row[name].nil? ? '-' : shown(row[name]) } }])
        end
      end
    end
  end
end
