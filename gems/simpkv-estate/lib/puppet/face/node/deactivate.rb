# frozen_string_literal: true

require 'puppet/face'

Puppet::Face.define(:node, '0.0.1') do
  action(:deactivate) do
    summary 'Remove all that nodes left in the store of simpkv'
    arguments '<node> [<node> ...]'
    returns <<-TEXT
      A line for each node. With `--render-as json`, by node, what was removed:
      `exports` (the number of types), `facts`, `status`, `reports`, `catalogs`,
      `node_cache`, `inspections`, `inventory`.
    TEXT
    description <<-TEXT
      Removes the exported resources, facts, status, reports, catalogs and
      inspections of nodes from the store that simpkv.yaml in Puppet's confdir
      names, or /etc/simpkv/simpkv.yaml. Other nodes no longer collect what these
      nodes exported. The declared record of a node stays: `simpkv node
      undeclare` removes it.

      A node that runs again stores everything anew. Revoke its certificate
      first: `puppetserver ca clean`, or `puppet node clean`, which knows
      nothing of this store.
    TEXT
    examples <<-TEXT
      Remove what two nodes left:

      $ puppet node deactivate web1.example.com web2.example.com
    TEXT
    notes <<-TEXT
      `simpkv node deactivate` does the same without Puppet, and `simpkv node
      expire` removes all nodes that have had no run for a long time.
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
