# frozen_string_literal: true

module Simpkv
  module Server
    module Console
      # Queries that show what the languages can do, and what each one asks.
      QUERY_EXAMPLES = [
        ['nodes[certname, report_timestamp] { latest_report_status = "failed" }',
         'The nodes whose last run failed, and when that was.'],
        ['nodes[certname, facts_environment] { facts { name = "kernel" and value = "Linux" } order by certname }',
         'The nodes with a value of a fact, in order.'],
        ['inventory[certname, facts.os.release.full] { facts.os.family = "Debian" }',
         'A part of a structured fact, of the nodes with a value of another part.'],
        ['facts[value, count()] { name = "kernel" group by value }',
         'The values of a fact, with the numbers of nodes.'],
        ['fact_contents[certname, value] { path ~> ["networking", "interfaces", ".*", "mac"] }',
         'The values at all paths of facts that a pattern matches.'],
        ['resources[certname, title, parameters] { exported = true and type = "Host" }',
         'The exported resources of a type, with their parameters.'],
        ['nodes[certname] { !(resources { type = "Class" and title = "Ntp" }) }',
         'The nodes without a class. The estate needs the option catalogs.'],
        ['["from", "resources", ["extract", ["type", ["function", "count"]], ["group_by", "type"]], ' \
         '["order_by", [["count", "desc"]]], ["limit", 10]]',
         'The ten most frequent types of resources, as an AST in JSON: PQL cannot sort groups.'],
        ['events[certname, resource_type, resource_title, message] { status = "failure" and latest_report? = true }',
         'What failed in the last run of each node.'],
        ['reports[certname, status, end_time] { corrective_change = true order by end_time desc limit 20 }',
         'The last 20 runs that brought back what somebody had changed.']
      ].freeze
    end
  end
end
