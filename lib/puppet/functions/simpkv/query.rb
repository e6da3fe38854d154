# frozen_string_literal: true

# @summary Queries nodes, facts, resources and reports, in the query language of PuppetDB
#
# It has the same requirements as `simpkv::query_nodes`. With `puppet apply` and Bolt, it reads an index on this
# machine, which needs the gem `simpkv-server`; the first query creates the index. In puppetserver, and with the option
# `query_uri` of `estate`, it asks the service `simpkv serve`. The index has the nodes of all environments: to select
# one, add a condition on the environment. Secrets are not in the index.
Puppet::Functions.create_function(:'simpkv::query', Puppet::Functions::InternalFunction) do
  # @param query
  #   PQL, or an AST as nested Arrays, as PuppetDB documents them.
  # @return [Array[Hash]] the rows
  # @raise ArgumentError if the query is wrong; the message of PQL has the place
  # @raise LoadError if the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend or the service fails, or the query takes too long
  # @example Find the database servers of this environment
  #   $query = "nodes[certname] { facts_environment = '${environment}' and resources { title = 'Role::Db' } }"
  #   $servers = simpkv::query($query).map |$node| { $node['certname'] }
  # @example Count nodes by their operating system
  #   simpkv::query(['from', 'facts', ['extract', ['value', ['function', 'count']], ['=', 'name', 'os'],
  #     ['group_by', 'value']]])
  dispatch :query do
    scope_param
    param 'Variant[String[1], Array]', :query
    return_type 'Array'
  end

  def query(scope, query)
    internal_call_function(scope, 'simpkv::support::native', [])
    Simpkv::Gems.demand('termini', 'estate_query', 'simpkv::query').answer(scope.compiler, query)
  end
end
