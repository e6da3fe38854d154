# frozen_string_literal: true

module Simpkv
  module Config
    # Facts that differ at each run. A glob matches a dotted name, and `*` does not match a dot.
    VOLATILE_FACTS = %w[
      uptime* system_uptime load_averages memoryfree* swapfree* memory.*.{available,used,capacity}*
      mountpoints.*.{available,used,capacity}* dhcp_servers
    ].freeze

    # Options of `estate` in the file of the command: what Puppet's termini named simpkv keep, and where.
    ESTATE = [
      option('backend', :string, nil, 'the name of the backend that keeps the estate',
             absent: "the command's backend"),
      option('catalogs', :boolean, false, 'true: the catalog of each run is stored'),
      option('compiler_counters', :boolean, false,
             'true: a compiler stores the counters of its connections together with a report, at most once a minute, ' \
             'for the metrics of `simpkv serve`'),
      option('facts_blocklist', :globs, VOLATILE_FACTS,
             'facts that are not stored: globs for dotted names such as `memory.*.used`; a glob for a fact that is a ' \
             'hash removes all of it'),
      option('indexed_facts', :names, %w[os.family os.name os.release.major networking.fqdn networking.ip virtual],
             'facts, by dotted names, that the inventory holds, for `simpkv::query_nodes` and `simpkv nodes`. It ' \
             'leaves out the value of a node that takes more than about 2,000 bytes as JSON'),
      option('inspection_rules', :hash, nil, 'how rules inspect nodes: see the next table', absent: 'its defaults'),
      option('node_ttl', :lifetime, nil,
             'the time after which the exports of a node that has had no run are not collected any more; ' \
             '`simpkv node expire` removes such nodes',
             absent: 'nodes do not expire'),
      option('query_uri', :string, nil,
             'where `simpkv::query` asks the service: an address as in `bind` of `server`. It sends the certificate ' \
             'of the agent to `ssl://`',
             absent: '`unix:///run/simpkv/simpkv.sock` in puppetserver; elsewhere the function needs no service'),
      option('report_ttl', :lifetime, nil,
             'the time for which reports are kept, if `reports` is large enough: `reports: 336` and `report_ttl: 7d` ' \
             'keep a week of runs that are 30 minutes apart. Older reports are in no answer, and ' \
             '`simpkv node expire` deletes them', absent: 'only their number counts'),
      option('reports', 0..1000, 5, 'the number of reports that are kept for each node'),
      option('skip_undecodable', :boolean, false,
             'true: a malformed document of a node, or a resource that simpkv does not restore, is left out with a ' \
             'warning; otherwise the catalog fails. **Dangerous: collectors that purge then remove what that node ' \
             'exports.** A document that the store cannot read is an error all the same',
             errors: ['simpkv estate: ...']),
      option('soft', :boolean, false,
             'true: if the backend fails, the catalog is compiled with a warning, and nothing is collected; ' \
             'otherwise the catalog fails. **Dangerous: collectors that purge then remove all that they collected ' \
             'before.** `node_terminus = simpkv` fails the catalog all the same',
             errors: ['simpkv estate: ...']),
      option('unknown_nodes', %w[accept refuse discover], 'accept',
             'nodes without a declared record, with `node_terminus = simpkv`: `accept` compiles a catalog for them, ' \
             '`refuse` does not, `discover` inspects them with a blank record and declares the outcome')
    ].freeze

    # Options of `inspection_rules` of the estate.
    INSPECTION_RULES = [
      option('built_in', :path, nil,
             'a file with rules in YAML, which no command changes or deletes; read again when it changes'),
      option('default_scope', :scope, nil,
             'the scope of rules without one, except built-in rules and those of the phase early: a rule with a ' \
             'scope applies only to nodes with that `scope`', absent: 'rules without a scope apply to all nodes'),
      option('inspection_scope', :scope, nil,
             'the `scope` of the records of nodes that discovery makes, unless a rule sets another one',
             absent: 'they have none'),
      option('mask_secrets', %w[always never sensitive], 'always',
             'members of facts and records with names such as `password` and `token`: `always` hides their values ' \
             'from rules, `sensitive` from rules that are not sensitive, `never` from none'),
      option('supported_interfaces', :pattern, '^(server|apply)$',
             'the run modes that inspect nodes, a regular expression: `server`, `apply`, `cli` (any other command)')
    ].freeze
  end
end
