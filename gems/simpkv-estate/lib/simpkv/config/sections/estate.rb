# frozen_string_literal: true

require 'simpkv/config/sections'

module Simpkv
  module Config
    module Sections
      # Options of `estate` in the file of the command: what Puppet's termini named simpkv keep, and where.
      module Estate
        extend Definitions

        # What the section is about, in words.
        ABOUT = 'the estate'

        # Facts that differ at each run. A glob matches a dotted name, and `*` does not match a dot.
        VOLATILE_FACTS = %w[
          uptime* system_uptime load_averages memoryfree* swapfree* memory.*.{available,used,capacity}*
          mountpoints.*.{available,used,capacity}* dhcp_servers
        ].freeze

        OPTIONS = [
          option('backend', :string, nil, 'the name of the backend that stores the estate',
                 absent: "the command's backend"),
          option('catalogs', :boolean, false, 'true: simpkv stores the catalog of each run'),
          option('compiler_counters', :boolean, false,
                 'true: a compiler stores the counters of its connections together with a report, at most once a ' \
                 'minute, for the metrics of `simpkv serve`'),
          option('facts_blocklist', :globs, VOLATILE_FACTS,
                 'facts that are not stored: globs for dotted names such as `memory.*.used`; a glob for a fact that ' \
                 'is a hash removes all of it',
                 protects: true),
          option('indexed_facts', :names, %w[os.family os.name os.release.major networking.fqdn networking.ip virtual],
                 'the facts, by dotted names, that `simpkv::query_nodes` and `simpkv nodes` can search and show. ' \
                 'Values of more than about 2,000 bytes of JSON are left out'),
          option('inspection_rules', :hash, nil, 'how rules inspect nodes: see the next table', absent: 'its defaults'),
          option('node_purge_ttl', :lifetime, nil,
                 'how long the facts, the status, the reports and the catalog of a deactivated node are kept. After ' \
                 'that, `simpkv node expire` removes them. What the node exported is removed at once',
                 absent: '`14d`'),
          option('node_ttl', :lifetime, nil,
                 'how long after its last run the exports of a node are collected. `simpkv node expire` removes ' \
                 'nodes that have had no run for so long',
                 absent: 'nodes do not expire'),
          option('query_uri', :string, nil,
                 'the address of the service, for `simpkv::query`, in the form of `bind` of `server`. For `ssl://`, ' \
                 'the function uses the certificate of the agent',
                 absent: '`unix:///run/simpkv/simpkv.sock` in puppetserver; elsewhere the function needs no service'),
          option('report_bytes', 4096..8_000_000, 1_048_576,
                 'the number of bytes that are kept of the events of a report, and the same number of its log and ' \
                 'values before they are compressed. A line at the end of the log says how much was left out, also ' \
                 'for the next two options'),
          option('report_events', 0..10_000, 1000,
                 'the number of events that are kept of a report: failures first, skipped resources last'),
          option('report_log_lines', 0..10_000, 1000,
                 'the number of lines that are kept of the log of a report: errors first, then warnings'),
          option('report_logs', :boolean, true,
                 'false: simpkv stores no log of a report, no values and containment paths of events, no skipped ' \
                 'resources, and at most 100 events'),
          option('report_ttl', :lifetime, nil,
                 'how long reports are kept, within the number that `reports` allows: `reports: 336` and ' \
                 '`report_ttl: 7d` keep a week of runs that are 30 minutes apart. No command shows older reports, ' \
                 "and `simpkv node expire` deletes them', absent: 'no limit but `reports`"),
          option('reports', 0..1000, 5, 'the number of reports that are kept for each node'),
          option('secret_names', :words, [],
                 'names of secrets beside those that simpkv knows, such as `kennwort` or `snmp_text`, whose words a ' \
                 'name has one after the other: members, facts and parameters with such names are hidden from rules, ' \
                 'commands, the service and the index of queries, as `password` is',
                 protects: true),
          option('skip_undecodable', :boolean, false,
                 'true: a malformed document of a node, or a resource that simpkv does not restore, is left out with ' \
                 'a warning; otherwise the catalog fails. **Dangerous: collectors that purge then remove what that ' \
                 'node exports.** If the store cannot read a document, the catalog fails in any case',
                 errors: ['simpkv estate: ...']),
          option('soft', :boolean, false,
                 'true: if the backend fails, the catalog is compiled with a warning, and nothing is collected; ' \
                 'otherwise the catalog fails. **Dangerous: collectors that purge then remove all that they ' \
                 'collected before.** With `node_terminus = simpkv`, the catalog fails in any case',
                 errors: ['simpkv estate: ...']),
          option('soft_writes', :boolean, false,
                 'true: if the server of writes fails, what a run reports (facts, exported resources, catalog, ' \
                 'report, outcome of an inspection) is dropped with a warning, and the catalog is compiled. ' \
                 'Collectors and other reads are complete, or the catalog fails; so does the discovery of a node. ' \
                 '`simpkv status` tells what was dropped, once the server is back',
                 errors: ['simpkv estate: ...']),
          option('spool', :path, nil,
                 'a folder of this machine, which the user of Puppet must be able to write to: what a run reports ' \
                 '(facts, exported resources, catalog, status, report, outcome of an inspection) waits there while ' \
                 'the server of writes is away, and the catalog is compiled. `soft_writes` has no effect then',
                 absent: 'catalogs fail while the server of writes is away',
                 errors: ["the spool '...' is full", "the spool '...' cannot be used"]),
          option('spool_age', :lifetime, 604_800,
                 'how long an entry may wait in the spool. After that, catalogs fail that would add to it. Entries ' \
                 'that failed for a reason of their own do not count, nor do later entries of their nodes'),
          option('spool_bytes', 1_048_576..1_099_511_627_776, 1_073_741_824,
                 'the maximum size of the spool. A catalog fails that would exceed it'),
          option('unknown_nodes', %w[accept refuse discover], 'accept',
                 'with `node_terminus = simpkv`, what to do with a node that has no declared record: `accept` ' \
                 'compiles a catalog, `refuse` does not, `discover` applies the inspection rules to an empty record ' \
                 'and stores the result as its declared record',
                 protects: true)
        ].freeze

        # Options of `inspection_rules` of the estate.
        INSPECTION_RULES = [
          option('built_in', :path, nil,
                 'a YAML file with rules. No command changes or deletes them. simpkv reads the file again when it ' \
                 'changes',
                 protects: true),
          option('default_scope', :scope, nil,
                 'the scope of rules that name none, except built-in rules and those of the phase early. A rule with ' \
                 'a scope applies only to nodes with that `scope`',
                 absent: 'rules without a scope apply to all nodes', protects: true),
          option('inspection_scope', :scope, nil,
                 'the `scope` of the records that `unknown_nodes: discover` creates, unless a rule sets another one',
                 absent: 'they have no scope'),
          option('mask_secrets', %w[always never sensitive], 'always',
                 'which rules see the values of members of facts and records with names such as `password` and ' \
                 '`token`: with `always` no rule, with `sensitive` only sensitive rules, with `never` all rules'),
          option('supported_interfaces', :pattern, '^(server|apply)$',
                 'a regular expression for the run modes of Puppet in which rules inspect nodes: `server`, `apply`, ' \
                 '`cli` (any other command)')
        ].freeze

        # @return [Hash{String => Object}] all of {OPTIONS}; without default and value, nil. `inspection_rules` has all
        #   of {INSPECTION_RULES}
        def self.convert(options)
          estate = Config.table(OPTIONS, options, "'estate'")
          rules = Config.table(INSPECTION_RULES, estate['inspection_rules'] || {}, "'inspection_rules' of 'estate'")
          estate.merge('inspection_rules' => rules)
        end
      end
    end
  end
end
