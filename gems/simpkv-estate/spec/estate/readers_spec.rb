# frozen_string_literal: true

require_relative '../support/estate_damage'

# Readers that did not ask for a marker answered with too few nodes, and a rule in place of which there was a folder was
# left out. So each reader of the estate meets each fault here: it answers as before, or with an error.
RSpec.describe 'The readers of a damaged estate' do
  include_context 'with an estate to damage'

  collect = ->(errors) { ->(key, why) { errors[key] = why } }
  listing = {
    get: ->(subject, _) { subject.get('web1') },
    demand_many: ->(subject, errors) { subject.demand_many([['web1'], ['web2']], &collect[errors]) },
    names: ->(subject, errors) { subject.names(&collect[errors]).sort },
    all: ->(subject, errors) { subject.all(&collect[errors]) }
  }
  names = %w[web1 web2]

  # The methods that read, by subject. What they yield goes into `errors`.
  readers = {
    catalogs: listing.slice(:get, :demand_many),
    counters: { recent: ->(counters, _) { counters.recent },
                recent_or_dropped: ->(counters, _) { counters.recent_or_dropped } },
    exports: { all: ->(exports, errors) { exports.all('user', &collect[errors]) },
               of: ->(exports, errors) { exports.of('web1', &collect[errors]) } },
    facts: { find: ->(facts, _) { facts.find('web1') }, with_trusted: ->(facts, _) { facts.with_trusted('web1') },
             all: ->(facts, errors) { facts.all(&collect[errors]) },
             select: ->(facts, errors) { facts.select(collect[errors]) { true }.sort } },
    inspections: listing.slice(:get, :all),
    inventory: listing.merge(current: ->(inventory, errors) { inventory.current(&collect[errors]) }),
    markers: { demand_all: ->(markers, _) { markers.demand_all }, types: ->(markers, _) { markers.types },
               recorded: ->(markers, _) { markers.recorded }, unmade: ->(markers, _) { markers.unmade } },
    nodes: listing.slice(:get, :names, :all).merge(cached: ->(nodes, _) { nodes.cached('web1') }),
    purged: { time: ->(purged, _) { purged.time('gone1') } },
    reports: { all: ->(reports, errors) { reports.all('web1', &collect[errors]) },
               latest: ->(reports, errors) { reports.latest('web1', &collect[errors]) },
               folders: ->(reports, _) { reports.folders.sort } },
    snapshots: { of: ->(snapshots, errors) { snapshots.of(names, &collect[errors]) } },
    statuses: listing
  }

  # Those that write, or are a step of another one: a run stores again what is damaged, and a digest differs then.
  documents = %i[path check_key key? put put_if_absent put_many update delete delete_expected deletetree read readable
                 many read_many digests folders]
  inherited = { catalogs: %i[names all], counters: listing.keys, inspections: %i[demand_many names], inventory: [],
                markers: listing.keys, nodes: %i[demand_many], purged: listing.keys,
                reports: %i[get demand_many names], statuses: [], exports: [], facts: [], snapshots: [] }
  own = { counters: %i[count_drop dropped? save_due], exports: %i[check impossible save save_in_order saving? demand
                                                                  delete many types],
          facts: %i[demand saving? save intact? delete many readable], snapshots: %i[digests latest_digest],
          inspections: %i[get_with_record replace_last],
          inventory: %i[intact keep demand_all demand_named give_up stale? replace_stored take active
                        needed?],
          markers: %i[demand record add_types make],
          nodes: %i[cache declare check_declared discover? blank check_effective parse delete_cached],
          purged: %i[enter forget],
          # estate_report_details_spec.rb damages details.
          reports: %i[save_once of_runs each_old expire limit save details with_details whole import missing],
          statuses: %i[expired_of before enter expired enter_deactivation] }
  of_estate = %i[absent? agreement backends bound_as case_sensitive? check_key compare deactivate doubts
                 encrypted encrypted? expire identity inspect make options pin pinned? removable remove replica?
                 secret_names shared spool store unpin]
  of_rules = %i[create delete delete_all inspect patch update]

  given = { 'description' => 'new', 'actions' => [{ 'op' => 'log', 'args' => ['x'] }] }
  rules = { list: ->(rules, errors) { rules.list(&collect[errors]) },
            get: ->(rules, _) { rules.get(EstateDamage::RULE) },
            engine: ->(rules, _) { rules.engine.inspect_node('{"phases":["main"],"inventory":{},"node":{}}') },
            trial: ->(rules, _) { rules.trial([]).inspect_node('{"phases":["main"],"inventory":{},"node":{}}') },
            each_fault: ->(rules, errors) { rules.each_fault(&collect[errors]) },
            import: ->(rules, _) { rules.import([given], dry_run: true).map(&:first) } }
  # Readers of several subjects.
  more = {
    'NodeList#nodes' => ->(estate, errors) { node_list(estate, errors, &:nodes) },
    'NodeList#nodes(never_run)' => lambda { |estate, errors|
      node_list(estate, errors) { |list| list.nodes(never_run: true) }
    },
    'NodeList#never_run' => ->(estate, errors) { node_list(estate, errors) { |list| list.never_run(list.nodes) } },
    'Misnamed#all' => lambda { |estate, errors|
      Simpkv::Estate::Misnamed.new(estate).all.each { |why| errors[why] = why }
    }
  }

  # @return [Object] what the block makes of a list of nodes
  define_method(:node_list) do |estate, errors, &block|
    list = Simpkv::Estate::NodeList.new(estate)
    block.call(list).tap { errors.update(list.errors) }
  end

  calls = readers.flat_map do |subject, methods|
    methods.map do |name, call|
      ["#{subject}.#{name}", ->(estate, errors) { call.call(estate.public_send(subject), errors) }]
    end
  end.to_h
  calls.update(rules.to_h do |name, call|
    ["Rules##{name}", ->(estate, errors) { call.call(Simpkv::Inspection::Rules.new(estate), errors) }]
  end)
  calls.update(more)
  # Nodes that have expired are left out of some answers.
  expiring = calls.slice('exports.all', 'facts.select', 'inventory.current', 'NodeList#nodes')

  # @return [Hash{String => Object}] the answer of each reader; `:error` for an error, which may be one that it yields
  define_method(:answers) do
    { {} => calls, { 'node_ttl' => '7d' } => expiring }.each_with_object({}) do |(options, chosen), answers|
      estate = EstateDamage.estate(root, options)
      chosen.each { |name, call| answers[[name, *options.keys].join(' with ')] = answer(estate, call) }
    end
  end

  def answer(estate, call)
    errors = {}
    result = instance_exec(estate, errors, &call)
    errors.empty? ? result : :error
  rescue Simpkv::Error, Simpkv::ConfigError
    :error
  end

  it 'are all in this table' do
    estate = EstateDamage.estate(root)
    subjects = readers.keys
    expect(Simpkv::Estate.public_instance_methods(false)).to match_array(subjects + of_estate)
    subjects.each do |subject|
      type = estate.public_send(subject).class
      known = readers[subject].keys | own.fetch(subject, []) | inherited[subject]
      known |= documents if type < Simpkv::Estate::Documents
      expect([subject, *type.public_instance_methods - Object.instance_methods]).to match_array([subject, *known])
    end
    expect(Simpkv::Inspection::Rules.public_instance_methods(false)).to match_array(rules.keys + of_rules)
  end

  it 'answer as before, or with an error, whatever is damaged' do
    healthy = answers
    expect(healthy.select { |_, answer| answer == :error }).to eq({})
    silent = {}
    noticed = EstateDamage.faults.to_h do |fault, damage|
      renew
      damage(damage)
      failed, answered = answers.partition { |_, answer| answer == :error }.map(&:to_h)
      silent[fault] = answered.reject { |reader, answer| answer == healthy[reader] }.keys
      [fault, failed.keys]
    end
    expect(silent.reject { |_, readers| readers.empty? }).to eq({})
    expect(noticed.select { |_, readers| readers.empty? }).to eq({})
    expect(healthy.keys - noticed.values.flatten).to eq([])
  end
end
