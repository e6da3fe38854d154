# frozen_string_literal: true

# @summary Finds nodes by their facts, in the inventory that Puppet's terminus `simpkv` keeps
#
# It needs `storeconfigs_backend = simpkv`, or `simpkv` as terminus or cache of facts, and no options. The option
# `indexed_facts` of `estate` lists the facts that the inventory has. A catalog reads the inventory once. Nodes that
# have had no run for `node_ttl` are left out.
Puppet::Functions.create_function(:'simpkv::query_nodes', Puppet::Functions::InternalFunction) do
  # @param filter
  #   A Hash of names and values, all of which must hold: a value, an Array of values, or a regular expression. A name
  #   is a fact such as `os.name`, `certname` or `environment`. Or nested Arrays: `[name, operator, value]`, with one
  #   of the operators `==`, `!=`, `<`, `>`, `<=`, `>=`, `=~`, `in`; `[filter, 'and', filter]`; `[filter, 'or',
  #   filter]`. Text is compared without regard to case; a number is equal to its text. Default: all nodes.
  # @param facts
  #   The names of the facts to return.
  # @return [Variant[Array[String], Hash[String, Hash]]] the names of the nodes, sorted; with `facts`, a Hash that maps
  #   the name of each node to the values of these facts, `undef` for a missing one. Both are empty if the backend fails
  #   and the option `soft` of `estate` is set
  # @raise ArgumentError if the filter is invalid, or a fact is not in the inventory
  # @raise LoadError if the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `soft` is set; or the configuration of `estate` is invalid
  # @example Find the web servers of this environment
  #   $servers = simpkv::query_nodes({ 'environment' => $environment, 'certname' => /^web/ })
  # @example Read the addresses of machines with a recent Debian
  #   $debian = [['os.name', '==', 'Debian'], 'and', ['os.release.major', '>=', 12]]
  #   simpkv::query_nodes($debian, ['networking.ip']).each |$name, $found| {
  #     host { $name: ip => $found['networking.ip'] }
  #   }
  dispatch :query_nodes do
    scope_param
    optional_param 'Variant[Hash, Array]', :filter
    optional_param 'Array[String[1]]', :facts
    return_type 'Variant[Array, Hash]'
  end

  def query_nodes(scope, filter = {}, facts = nil)
    internal_call_function(scope, 'simpkv::support::native', [])
    Simpkv::Gems.demand('termini', 'node_query', 'simpkv::query_nodes').answer(scope.compiler, filter, facts)
  end
end
