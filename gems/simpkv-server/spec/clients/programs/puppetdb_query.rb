# frozen_string_literal: true

require 'json'
require 'puppetdb_query'

PuppetDBQuery::Logging.logger = Logger.new(File::NULL)
database = PuppetDBQuery::PuppetDB.new('127.0.0.1', Integer(ENV.fetch('HTTP')[/\d+\z/], 10), 'http')
puts JSON.generate('nodes' => database.all_nodes, 'facts of web1' => database.single_node_facts('web1'),
                   'facts' => database.facts, 'properties' => database.node_properties,
                   'changed' => database.nodes_update_facts_since(Time.at(0)))
