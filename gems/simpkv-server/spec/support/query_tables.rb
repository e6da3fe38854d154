# frozen_string_literal: true

require 'digest'
require 'json'
require 'simpkv/query/engine'
require 'simpkv/query/schema'
require 'sqlite3'
require_relative 'query_estate'

# The tables of an index, filled with the nodes of QueryEstate.
#
#   tables = QueryTables.new
#   tables.fill
#   tables.engine
class QueryTables
  REPORT = %w[start_time end_time producer_timestamp producer environment status type puppet_version report_format
              configuration_version transaction_uuid catalog_uuid code_id job_id cached_catalog_status].freeze

  TYPES = { String => 'string', Integer => 'integer', Float => 'float', TrueClass => 'boolean', FalseClass => 'boolean',
            NilClass => 'null' }.freeze

  # @return [SQLite3::Database]
  attr_reader :database

  # @param identities [Hash{Array => Hash}] members of rows that a PuppetDB makes up, such as hashes and the times at
  #   which it received documents: by the entity and the members that name the row
  def initialize(identities = {})
    @identities = identities
    @database = SQLite3::Database.new(':memory:')
    @database.execute_batch(Simpkv::Query::Schema::TABLES)
    @ids = {}
  end

  def fill
    certnames = [*QueryEstate::FACTS.keys, *QueryEstate::RESOURCES.keys].uniq
    certnames.each_with_index { |certname, index| @ids[certname] = index + 1 }
    certnames.each { |certname| insert_node(certname) }
    QueryEstate::FACTS.each_key { |certname| insert_facts(QueryEstate.facts(certname)) }
    QueryEstate::RESOURCES.each_key { |certname| insert_catalog(QueryEstate.catalog(certname)) }
    QueryEstate::REPORTS.each_with_index { |report, index| insert_report(report, index + 1) }
    self
  end

  # @return [Simpkv::Query::Engine] one that answers with details of reports, though there is no store
  def engine
    Simpkv::Query::Engine.new(@database).tap do
      @database.create_function('report_detail', 5) do |function, kind, _certname, run, _token, number|
        function.result = JSON.generate(detail(QueryEstate::REPORTS.fetch(run - 1), kind, number))
      end
    end
  end

  private

  def detail(report, kind, number)
    return report['logs'] if kind == 'logs'

    report['resources'].flat_map { |resource| events(resource) }[number]["#{kind}_value"]
  end

  def insert(table, row)
    columns = row.keys.join(', ')
    @database.execute("INSERT INTO #{table} (#{columns}) VALUES (#{(['?'] * row.length).join(', ')})", row.values)
  end

  def identity(entity, *key)
    @identities.fetch([entity, *key], {})
  end

  def made_up(*parts)
    Digest::SHA1.hexdigest(parts.join("\0"))
  end

  def bit(value)
    { true => 1, false => 0 }[value]
  end

  def insert_node(certname)
    row = { 'id' => @ids.fetch(certname), 'certname' => certname, 'digest' => '' }
    row['deactivated'] = QueryEstate::DEACTIVATED[certname]&.utc&.iso8601(3)
    row.merge!(documents_of(certname)).merge!(report_of(certname))
    row.merge!(identity('nodes', certname).slice('facts_timestamp', 'catalog_timestamp', 'latest_report_hash'))
    row['seen'] = row['facts_timestamp']
    insert('nodes', row)
  end

  def documents_of(certname)
    environment = QueryEstate::ENVIRONMENTS.fetch(certname)
    { 'facts' => QueryEstate::FACTS, 'catalog' => QueryEstate::RESOURCES }.each_with_object({}) do |(kind, all), row|
      next unless all.key?(certname)

      row["#{kind}_environment"] = environment
      row["#{kind}_timestamp"] = QueryEstate::AT
    end
  end

  def report_of(certname)
    report = last_report(certname)
    return {} unless report

    { 'report_environment' => report['environment'], 'report_timestamp' => report['end_time'],
      'latest_report_hash' => report_hash(report), 'latest_report_status' => report['status'],
      'latest_report_noop' => bit(report['noop']), 'latest_report_noop_pending' => bit(report['noop_pending']),
      'latest_report_corrective_change' => bit(report['corrective_change']),
      'cached_catalog_status' => report['cached_catalog_status'] }
  end

  def last_report(certname)
    QueryEstate::REPORTS.select { |report| report['certname'] == certname }.max_by { |report| report['end_time'] }
  end

  def report_hash(report)
    identity('reports', report['certname'],
             report['start_time'])['hash'] || made_up(report['certname'], report['start_time'])
  end

  def insert_facts(facts)
    node = @ids.fetch(facts['certname'])
    row = facts.slice('environment', 'producer', 'producer_timestamp')
    row.merge!('node' => node, 'timestamp' => facts['producer_timestamp'],
               'hash' => made_up('facts', facts['certname']), 'trusted' => facts['values']['trusted']&.to_json)
    insert('factsets', row.merge(identity('factsets', facts['certname']).slice('timestamp', 'hash')))
    insert_packages(node, facts['package_inventory'])
    facts['values'].each do |name, value|
      insert('facts', 'node' => node, 'name' => name, 'value' => JSON.generate(value))
      insert_paths([name], value)
    end
  end

  def insert_packages(node, packages)
    packages.each do |package|
      insert('package_inventory', 'node' => node, **%w[package_name version provider].zip(package).to_h)
    end
  end

  def insert_paths(path, value)
    case value
    when Hash then value.each { |key, inner| insert_paths([*path, key], inner) }
    when Array then value.each_with_index { |inner, index| insert_paths([*path, index], inner) }
    else
      @database.execute('INSERT OR IGNORE INTO fact_paths (path, type, name) VALUES (?, ?, ?)',
                        [JSON.generate(path), TYPES.fetch(value.class), path.first])
    end
  end

  def insert_catalog(catalog)
    certname = catalog['certname']
    node = @ids.fetch(certname)
    row = catalog.slice('environment', 'producer_timestamp', 'producer', 'version', 'transaction_uuid', 'catalog_uuid',
                        'code_id', 'job_id')
    row.merge!('node' => node, 'hash' => identity('catalogs', certname)['hash'] || made_up('catalog', certname))
    insert('catalogs', row)
    catalog['resources'].each { |resource| insert_resource(certname, node, resource) }
    catalog['edges'].each { |edge| insert_edge(node, edge) }
  end

  def insert_resource(certname, node, resource)
    type, title = resource.values_at('type', 'title')
    digest = identity('resources', certname, type, title)['resource'] || made_up(certname, type, title)
    insert('resources', 'node' => node, 'type' => type, 'title' => title, 'resource' => digest,
                        'exported' => bit(resource['exported']), 'tags' => resource['tags'].to_json,
                        'file' => resource['file'], 'line' => resource['line'],
                        'parameters' => JSON.generate(resource['parameters']))
  end

  def insert_edge(node, edge)
    insert('edges', 'node' => node, 'relationship' => edge['relationship'],
                    'source_type' => edge['source']['type'], 'source_title' => edge['source']['title'],
                    'target_type' => edge['target']['type'], 'target_title' => edge['target']['title'])
  end

  def insert_report(report, id)
    certname = report['certname']
    row = report.slice(*REPORT)
    %w[noop noop_pending corrective_change].each { |name| row[name] = bit(report[name]) }
    received = identity('reports', certname, report['start_time'])['receive_time'] || report['producer_timestamp']
    row.merge!('id' => id, 'node' => @ids.fetch(certname), 'hash' => report_hash(report), 'receive_time' => received,
               'latest' => bit(report.equal?(last_report(certname))), 'run' => id, 'details' => 'd')
    insert('reports', row)
    insert('metrics', 'report' => id, 'metrics' => report['metrics'].to_json)
    insert_events(report, id)
  end

  def insert_events(report, id)
    pairs = report['resources'].flat_map { |resource| events(resource).map { |event| [resource, event] } }
    pairs.each_with_index { |(resource, event), number| insert('events', event_row(id, number, resource, event)) }
  end

  # A skipped resource has one event without a property.
  def events(resource)
    return resource['events'] unless resource['skipped']

    [{ 'status' => 'skipped', 'timestamp' => resource['timestamp'] }]
  end

  def event_row(report, number, resource, event)
    path = resource['containment_path']
    { 'report' => report, 'number' => number, 'status' => event['status'], 'timestamp' => event['timestamp'],
      'resource_type' => resource['resource_type'], 'resource_title' => resource['resource_title'],
      'property' => event['property'], 'name' => event['name'], 'corrective_change' => bit(event['corrective_change']),
      'message' => event['message'],
      'file' => resource['file'], 'line' => resource['line'], 'containment_path' => path.to_json,
      'containing_class' => path.reverse.find { |name| class?(name) } }
  end

  # A class stands in a path by its name; the first element is a stage.
  def class?(name)
    !name.empty? && !name.end_with?(']')
  end
end
