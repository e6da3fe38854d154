# frozen_string_literal: true

require 'puppet/face'

Puppet::Face.define(:node, '0.0.1') do
  action(:deactivate) do
    summary 'Remove the exported resources of nodes from the store of simpkv'
    arguments '<node> [<node> ...]'
    returns <<-TEXT
      A line for each node. With `--render-as json`, by node: `deactivated`, the
      time, and `exports`, the number of types that were removed.
    TEXT
    description <<-TEXT
      Removes the exported resources of nodes from the store that simpkv.yaml in
      Puppet's confdir names, or /etc/simpkv/simpkv.yaml, and marks the nodes.
      Other nodes no longer collect what these nodes exported, and searches leave
      them out. Their facts, status, reports and catalogs stay for the time of
      the option `node_purge_ttl`. The declared record of a node stays: `simpkv
      node undeclare` removes it.

      The next run of a node ends its deactivation. Revoke its certificate
      first: `puppetserver ca clean`, or `puppet node clean`, which knows
      nothing of this store.
    TEXT
    examples <<-TEXT
      Deactivate two nodes:

      $ puppet node deactivate web1.example.com web2.example.com
    TEXT
    notes <<-TEXT
      `simpkv node deactivate` does the same without Puppet. With `--purge`, it
      removes all that the nodes left at once. `simpkv node expire` does so for
      all nodes that were deactivated, or have had no run, for a long time.
    TEXT

    when_invoked do |*arguments|
      # Chooses this version of the gems, beside which an older one may be installed.
      require 'simpkv/gems/estate'
      require 'simpkv/termini/deactivation'
      Simpkv::Termini::Deactivation.perform(arguments[0..-2].map(&:downcase))
    end

    when_rendering(:console) { |removed| Simpkv::Termini::Deactivation.lines(removed).join("\n") }
  end
end
