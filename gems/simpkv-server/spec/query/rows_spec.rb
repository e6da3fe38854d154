# frozen_string_literal: true

require 'json'
require 'simpkv/query'
require 'simpkv/query/rows'
require 'sqlite3'

RSpec.describe Simpkv::Query::Rows do
  # @return [Hash{String => Array<Hash>}] the rows by table, with their columns
  def rows(lifetime: nil, now: Time.now, **documents)
    documents = described_class::Documents.new(certname: 'web1', digest: 'd1', reports: [], exports: {}, **documents)
    rows = described_class.of(documents, lifetime: lifetime, now: now)
    rows.to_h { |table, list| [table, list.map { |values| described_class::COLUMNS[table].zip(values).to_h }] }
  end

  def node(**documents)
    rows(**documents)['nodes'].first
  end

  let(:inventory) do
    { 'environment' => 'production', 'facts_digest' => '9f86', 'exports' => { 'host' => '6030' },
      'seen' => '2026-11-20T00:00:00Z' }
  end
  let(:status) do
    { 'last_seen' => '2026-11-23T01:02:03Z', 'environment' => 'testing', 'status' => 'changed', 'noop' => true,
      'changes' => 3, 'failures' => 0, 'runs' => 17 }
  end
  let(:report) do
    { 'host' => 'web1', 'time' => '2026-11-23T01:01:01Z', 'status' => 'changed', 'environment' => 'testing',
      'noop' => false, 'noop_pending' => true, 'corrective_change' => false, 'puppet_version' => '8.10.0',
      'report_format' => 12, 'configuration_version' => 1_790_000_000, 'transaction_uuid' => 'u1',
      'cached_catalog_status' => 'not_used', 'resources' => { 'total' => 10, 'changed' => 1 },
      'event_counts' => { 'total' => 1, 'success' => 1 }, 'changes' => 1, 'times' => { 'total' => 1.5, 'file' => 0.2 },
      'events' => [{ 'resource' => 'File[/etc/motd]', 'property' => 'content', 'status' => 'success',
                     'time' => '2026-11-23T01:01:02Z', 'message' => 'changed', 'file' => '/site.pp', 'line' => 3,
                     'corrective_change' => true }],
      'events_left_out' => 0, 'received' => '2026-11-23T01:02:03Z', 'run' => 17 }
  end
  let(:catalog) do
    { 'name' => 'web1', 'version' => 1_790_000_000, 'code_id' => 'c1', 'catalog_uuid' => 'cu1',
      'environment' => 'production',
      'resources' => [
        { 'type' => 'Class', 'title' => 'Main', 'tags' => %w[main class], 'exported' => false },
        { 'type' => 'File', 'title' => '/etc/motd', 'tags' => ['file'], 'file' => '/site.pp', 'line' => 3,
          'exported' => false, 'parameters' => { 'content' => 'hidden', 'mode' => '0644', 'require' => 'User[felix]' },
          'sensitive_parameters' => ['content'] },
        { 'type' => 'User', 'title' => 'felix', 'exported' => false,
          'parameters' => { 'notify' => ['File[/a]', { '__ptype' => 'Pcore::ResourceType',
                                                       'type_name' => 'nginx::vhost', 'title' => 'x' }] } }
      ],
      'edges' => [{ 'source' => 'Class[Main]', 'target' => 'File[/etc/motd]' }] }
  end

  # @return [Hash] the parameters of an exported resource, in the index
  def exported(parameters)
    resources = { 'nginx::vhost' => [{ 'title' => 'x', 'parameters' => parameters }] }
    JSON.parse(rows(exports: resources)['resources'].first['parameters'])
  end

  it 'fit the tables' do
    database = SQLite3::Database.new(':memory:')
    database.execute_batch(Simpkv::Query::Schema::TABLES)
    described_class::COLUMNS.each do |table, columns|
      stored = database.table_info(table).map { |column| column['name'] }

      expect([*stored & %w[id node], *columns]).to match_array stored
    end
  end

  # A client who guessed a secret could compute the hash that follows from it.
  describe 'with hashes' do
    # @param secret [String] the value of each secret
    # @param public [String] a value in each of the rows
    # @return [Hash{String => String}] by table
    def hashes(secret, public = 'x')
      parameters = { 'content' => secret, 'api_key' => secret, 'mode' => public }
      file = { 'type' => 'File', 'title' => '/a', 'parameters' => parameters, 'sensitive_parameters' => ['content'] }
      event = { 'property' => 'db_password', 'message' => secret, 'file' => public }
      found = rows(catalog: { 'resources' => [file] }, reports: [{ 'events' => [event] }],
                   facts: { 'values' => { 'db_password' => secret, 'kernel' => public } },
                   inventory: { 'facts_digest' => secret })
      %w[catalogs factsets reports].to_h { |table| [table, found[table].first['hash']] }
    end

    it 'do not depend on secrets, and depend on all other values' do
      expect(hashes('pl4nted')).to eq hashes('another')
      expect(hashes('pl4nted').values & hashes('pl4nted', 'y').values).to eq []
    end

    it 'are those of one node' do
      catalogs = %w[web1 web2].map do |certname|
        described_class.of(described_class::Documents.new(certname: certname, catalog: catalog))['catalogs']
      end

      expect(catalogs.flatten(1).map { |row| row[3] }.uniq.length).to eq 2
    end
  end

  describe 'of a node' do
    it 'have the times and environments of the last run' do
      row = node(inventory: inventory, status: status, facts: { 'values' => {}, 'timestamp' => '2026-11-01T00:00:00Z' })

      expect(row).to include('certname' => 'web1', 'digest' => 'd1', 'facts_environment' => 'production',
                             'facts_timestamp' => '2026-11-23T01:02:03.000Z', 'catalog_environment' => 'production',
                             'catalog_timestamp' => '2026-11-23T01:02:03.000Z', 'deactivated' => nil)
    end

    it 'have NULL for facts and catalogs that it has not sent' do
      row = node(status: status)

      expect(row.values_at('facts_timestamp', 'facts_environment', 'catalog_timestamp', 'catalog_environment'))
        .to eq [nil] * 4
    end

    it 'have its last report' do
      found = rows(status: status, reports: [report])
      hash = found['reports'].first['hash']

      expect(found['nodes'].first)
        .to include('report_environment' => 'testing', 'report_timestamp' => '2026-11-23T01:01:02.500Z',
                    'latest_report_hash' => hash, 'latest_report_status' => 'changed', 'latest_report_noop' => 0,
                    'latest_report_noop_pending' => 1, 'latest_report_corrective_change' => 0,
                    'cached_catalog_status' => 'not_used')
    end

    it 'have the status if no report is stored' do
      expect(node(status: status)).to include('report_timestamp' => '2026-11-23T01:02:03.000Z',
                                              'latest_report_status' => 'changed', 'latest_report_noop' => 1,
                                              'latest_report_hash' => nil)
    end

    it 'have no report if the site keeps none' do
      row = node(status: { 'last_seen' => '2026-11-23T01:02:03Z', 'environment' => 'testing' })

      expect(row.values_at('report_timestamp', 'report_environment')).to eq [nil, nil]
    end

    it 'have the time at which it expires, and once that has passed, the time at which it expired' do
      before, after = ['2026-11-24T01:02:02Z', '2026-11-24T01:02:03Z'].map do |now|
        node(status: status, inventory: inventory, lifetime: 86_400, now: Time.iso8601(now))
      end

      expect(before).to include('seen' => '2026-11-23T01:02:03.000Z',
                                'expires' => '2026-11-24T01:02:03.000Z', 'expired' => nil)
      expect(after).to include('expires' => '2026-11-24T01:02:03.000Z', 'expired' => '2026-11-24T01:02:03.000Z')
    end

    it 'have the time of a deactivation' do
      row = rows(inventory: inventory.merge('deactivated' => '2026-11-24T01:02:03.456Z'))['nodes'].first
      expect(row).to include('deactivated' => '2026-11-24T01:02:03.456Z', 'expired' => nil)
    end

    it 'never expire without a lifetime, or without a known run' do
      [node(status: status), node(lifetime: 60)].each do |row|
        expect(row.values_at('expires', 'expired')).to eq [nil, nil]
      end
    end
  end

  describe 'of facts' do
    let(:facts) do
      { 'values' => { 'os' => { 'name' => 'Debian', 'release' => [12, 1.5] }, 'up' => true, 'none' => nil },
        'trusted' => { 'certname' => 'web1' }, 'timestamp' => '2026-11-23T01:02:03Z',
        'producer' => 'puppet1' }
    end

    it 'are one for each fact, and one for the trusted facts' do
      found = rows(facts: facts)['facts'].to_h { |row| [row['name'], JSON.parse(row['value'])] }

      expect(found).to eq facts['values'].merge('trusted' => { 'certname' => 'web1' })
    end

    it 'have the set' do
      expect(rows(facts: facts, inventory: inventory, status: status)['factsets'])
        .to match [{ 'environment' => 'production', 'timestamp' => '2026-11-23T01:02:03.000Z', 'producer' => 'puppet1',
                     'producer_timestamp' => '2026-11-23T01:02:03.000Z', 'hash' => /\A\h{40}\z/,
                     'trusted' => '{"certname":"web1"}' }]
    end

    it 'have the packages that an agent tells, and no fact of them' do
      list = [%w[bash 5.2 apt], %w[bash 5.2 apt], %w[bash 5.2], ['rake', 13, 'gem'], 'x', %w[rake 13 gem]]
      found = rows(facts: { 'values' => { '_puppet_inventory_1' => { 'packages' => list }, 'a' => 1 } })
      expect(found['package_inventory'].map(&:values)).to eq([%w[bash 5.2 apt], %w[rake 13 gem]])
      expect(%w[facts fact_paths].map { |table| found[table].map { |row| row['name'] } }).to eq([%w[a]] * 2)
      other = rows(facts: { 'values' => { '_puppet_inventory_1' => 'x' } })
      expect([other['package_inventory'], other['facts'].length]).to eq([[], 1])
    end

    it 'have the path of each value, with its type' do
      paths = rows(facts: facts)['fact_paths'].map { |row| [JSON.parse(row['path']), row['type'], row['name']] }

      expect(paths).to contain_exactly([%w[os name], 'string', 'os'], [['os', 'release', 0], 'integer', 'os'],
                                       [['os', 'release', 1], 'float', 'os'], [['up'], 'boolean', 'up'],
                                       [['none'], 'null', 'none'], [%w[trusted certname], 'string', 'trusted'])
    end

    it 'have a path once for all nodes, unless its values have several types' do
      maker = described_class.new
      paths = [['a', 1], ['a', 2], %w[a x], ['b', 1]].map do |name, value|
        documents = described_class::Documents.new(certname: 'n', facts: { 'values' => { name => value } })
        maker.of(documents)['fact_paths'].map { |path, type, _| [path, type] }
      end

      expect(paths).to eq [[['["a"]', 'integer']], [], [['["a"]', 'string']], [['["b"]', 'integer']]]
    end

    it 'leave out secrets' do
      values = { 'db_password' => 'p', 'app' => { 'token' => 't', 'name' => 'a', 'list' => [{ 'secret' => 's' }] } }
      found = rows(facts: { 'values' => values, 'trusted' => { 'extensions' => { 'api_key' => 'k' } } })

      expect(found['facts'].map { |row| [row['name'], row['value']] })
        .to eq [['app', '{"name":"a","list":[{}]}'], ['trusted', '{"extensions":{}}']]
      expect(found['fact_paths'].map { |row| row['path'] }).to eq ['["app","name"]']
    end

    it 'are none for a node without facts' do
      expect(rows(inventory: inventory).values_at('facts', 'factsets', 'fact_paths')).to eq [[], [], []]
    end
  end

  describe 'of resources' do
    it 'have the exports, with types as Puppet writes them' do
      resource = { 'title' => 'X y', 'parameters' => { 'port' => 80 }, 'tags' => %w[web nginx], 'file' => '/site.pp',
                   'line' => 3 }

      expect(rows(exports: { 'nginx::vhost' => [resource] })['resources'])
        .to match [{ 'type' => 'Nginx::Vhost', 'title' => 'X y', 'exported' => 1, 'file' => '/site.pp', 'line' => 3,
                     'tags' => '["nginx","web"]', 'parameters' => '{"port":80}', 'resource' => /\A\h{40}\z/ }]
    end

    it 'have those of the catalog, and what is only exported' do
      exports = { 'user' => [{ 'title' => 'felix' }, { 'title' => 'rosa' }] }
      found = rows(catalog: catalog, exports: exports)['resources']

      expect(found.map { |row| row.values_at('type', 'title', 'exported') })
        .to contain_exactly(['Class', 'Main', 0], ['File', '/etc/motd', 0], ['User', 'felix', 1], ['User', 'rosa', 1])
    end

    it 'leave out the sensitive parameters of a catalog' do
      file = rows(catalog: catalog)['resources'].find { |row| row['type'] == 'File' }

      expect(JSON.parse(file['parameters'])).to eq('mode' => '0644', 'require' => 'User[felix]')
    end

    it 'leave out what is Sensitive in parameters' do
      secret = { '__ptype' => 'Sensitive', '__pvalue' => { '__ptype' => 'Binary', '__pvalue' => 'AP8=' } }

      expect(exported('a' => secret, 'b' => [1, secret, { 'c' => secret, 'd' => 2 }], 'e' => 3))
        .to eq('b' => [1, { 'd' => 2 }], 'e' => 3)
    end

    # Puppet stores a Hash with a key that is no text as an object with a list.
    it 'lack members of a Hash with other keys than texts, too' do
      list = [1, 'x', 'api_key', 'pl4nted', 'in', { 'db_password' => 'pl4nted', 'y' => 2 }]
      expect(exported('a' => [{ '__ptype' => 'Hash', '__pvalue' => list }]))
        .to eq('a' => [{ '1' => 'x', 'in' => { 'y' => 2 } }])
    end

    # The text of such a key used to have the secret, and of two keys with one text the last one won.
    it 'lack Sensitive keys of a Hash, and have both of two keys with the same text' do
      secret = { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }
      expect(exported('a' => { '__ptype' => 'Hash', '__pvalue' => [secret, 1, [secret], 2, 3, secret, 4, 'x'] },
                      'b' => { '__ptype' => 'Hash', '__pvalue' => [1, 'x', '1', 'y', 'api_key', 'pl4nted'] }))
        .to eq('a' => { '4' => 'x' }, 'b' => [[1, 'x'], %w[1 y]])
    end

    it 'leave out what is Sensitive in a Deferred, and parameters with the names of secrets' do
      deferred = { '__ptype' => 'Deferred', 'name' => 'join',
                   'arguments' => [{ '__ptype' => 'Sensitive', '__pvalue' => 'p' }, 'x'] }

      expect(exported('a' => deferred, 'admin_password' => 'p'))
        .to eq('a' => { '__ptype' => 'Deferred', 'name' => 'join', 'arguments' => ['x'] })
    end

    it 'have other values of Puppet as texts' do
      parameters = { 'a' => { '__ptype' => 'Binary', '__pvalue' => 'AP8=' },
                     'b' => { '__ptype' => 'Pcore::ResourceType', 'type_name' => 'nginx::vhost', 'title' => 'x' },
                     'c' => [{ '__ptype' => 'Pcore::ClassType', 'class_name' => 'site::web' }],
                     'd' => { '__ptype' => 'Default' },
                     'e' => { '__ptype' => 'Timestamp', '__pvalue' => '2026-11-23T01:02:03Z' }, 'f' => nil }

      expect(exported(parameters)).to eq('a' => 'AP8=', 'b' => 'Nginx::Vhost[x]', 'c' => ['Class[Site::Web]'],
                                         'd' => 'default', 'e' => '2026-11-23T01:02:03Z', 'f' => nil)
    end

    it 'have a digest that changes with any of their columns' do
      resources = [{ 'title' => 'x' }, { 'title' => 'y' }, { 'title' => 'x', 'tags' => ['a'] },
                   { 'title' => 'x', 'parameters' => { 'a' => 1 } }, { 'title' => 'x', 'file' => '/a' },
                   { 'title' => 'x', 'file' => '/a', 'line' => 1 }]
      digests = resources.map { |resource| rows(exports: { 'user' => [resource] })['resources'].first['resource'] }

      expect(digests.uniq.length).to eq resources.length
    end
  end

  describe 'of a catalog' do
    it 'have its edges, with those of relationships' do
      edges = rows(catalog: catalog)['edges'].map(&:values)

      expect(edges).to contain_exactly(['contains', 'Class', 'Main', 'File', '/etc/motd'],
                                       ['required-by', 'User', 'felix', 'File', '/etc/motd'],
                                       ['notifies', 'User', 'felix', 'File', '/a'],
                                       ['notifies', 'User', 'felix', 'Nginx::Vhost', 'x'])
    end

    it 'have its version and identifiers' do
      expect(rows(catalog: catalog, status: status)['catalogs'])
        .to match [{ 'environment' => 'production', 'producer_timestamp' => '2026-11-23T01:02:03.000Z',
                     'producer' => nil, 'hash' => /\A\h{40}\z/, 'dated' => 0, 'source' => nil,
                     'version' => '1790000000', 'transaction_uuid' => nil, 'catalog_uuid' => 'cu1',
                     'code_id' => 'c1', 'job_id' => nil }]
    end

    it 'have its sender and its run' do
      sent = catalog.merge('producer' => 'puppet1', 'producer_timestamp' => '2026-11-23T01:02:04.5678Z',
                           'transaction_uuid' => 't1', 'job_id' => '7')
      expect(rows(catalog: sent, status: status)['catalogs'])
        .to match [include('producer' => 'puppet1', 'producer_timestamp' => '2026-11-23T01:02:04.567Z',
                           'transaction_uuid' => 't1', 'job_id' => '7')]
    end

    it 'are none if it is not stored' do
      expect(rows(exports: { 'user' => [{ 'title' => 'x' }] }).values_at('catalogs', 'edges')).to eq [[], []]
    end
  end

  describe 'of reports' do
    let(:found) { rows(status: status, reports: [report, report.merge('run' => 16)]) }

    it 'have times, status and versions' do
      expect(found['reports'].first)
        .to include('latest' => 1, 'start_time' => '2026-11-23T01:01:01.000Z', 'end_time' => '2026-11-23T01:01:02.500Z',
                    'receive_time' => '2026-11-23T01:02:03.000Z', 'status' => 'changed', 'noop' => 0,
                    'noop_pending' => 1, 'corrective_change' => 0, 'puppet_version' => '8.10.0', 'report_format' => 12,
                    'configuration_version' => '1790000000', 'transaction_uuid' => 'u1', 'details' => nil)
    end

    it 'have the latest one first, and hashes of their own' do
      expect(found['reports'].map { |row| row['latest'] }).to eq [1, 0]
      expect(found['reports'].map { |row| row['hash'] }.uniq.length).to eq 2
    end

    it 'have other hashes than those of another node' do
      other = described_class::Documents.new(certname: 'web2', reports: [report])

      expect(described_class.of(other)['reports'].first.first).not_to eq found['reports'].first['hash']
    end

    # A query that reads all reports read nine times as many bytes.
    it 'have their metrics, which are most of a report, in a table of their own' do
      times = Array.new(26) { |number| ["resource#{number}", number / 3.0] }.to_h
      found = rows(reports: [report.merge('times' => times)])
      sizes = %w[reports metrics].map { |table| JSON.generate(found[table].map(&:values)).bytesize }

      expect(sizes.first).to be < sizes.last / 3
    end

    it 'have the metrics as a list' do
      expect(JSON.parse(found['metrics'].first['metrics']))
        .to include({ 'category' => 'resources', 'name' => 'changed', 'value' => 1 },
                    { 'category' => 'time', 'name' => 'total', 'value' => 1.5 },
                    { 'category' => 'events', 'name' => 'success', 'value' => 1 },
                    { 'category' => 'changes', 'name' => 'total', 'value' => 1 })
    end

    it 'have events with type and title of their resource' do
      expect(found['events'].first)
        .to include('report' => found['reports'].first['hash'], 'status' => 'success', 'resource_type' => 'File',
                    'resource_title' => '/etc/motd', 'property' => 'content', 'corrective_change' => 1,
                    'timestamp' => '2026-11-23T01:01:02.000Z', 'message' => 'changed', 'file' => '/site.pp',
                    'line' => 3, 'number' => 0, 'containment_path' => nil)
    end

    it 'have what only a report with details has, without logs and values' do
      event = { 'resource' => 'File[/a]', 'name' => 'mode_changed',
                'containment_path' => ['Stage[main]', 'Nginx', 'File[/a]'] }
      whole = report.merge('details' => 'd1', 'logs' => ['s3cret'], 'end_time' => '2026-11-23T01:01:09.123456Z',
                           'type' => 'plan', 'catalog_uuid' => 'c1',
                           'events' => [event, event.merge('property' => 'db_password')])
      found = rows(reports: [whole])
      expect(found['reports'].first).to include('details' => 'd1', 'end_time' => '2026-11-23T01:01:09.123Z',
                                                'type' => 'plan', 'catalog_uuid' => 'c1')
      expect(found['events'].first)
        .to include('name' => 'mode_changed', 'containing_class' => 'Nginx',
                    'containment_path' => '["Stage[main]","Nginx","File[/a]"]')
      expect(found['events'].map { |row| row['number'] }).to eq([0, nil])
      expect(found.to_s).not_to include('s3cret')
    end

    it 'leave out the message about a property with the name of a secret' do
      events = %w[db_password mode].map { |name| { 'property' => name, 'message' => "#{name} changed 'a' to 'b'" } }

      expect(rows(reports: [{ 'events' => events }])['events'].map { |event| event.values_at('property', 'message') })
        .to eq [['db_password', nil], ['mode', "mode changed 'a' to 'b'"]]
    end

    it 'may lack what a run that failed early does not have' do
      short = rows(reports: [{ 'status' => 'failed', 'events' => nil }])

      expect(short['reports'].first).to include('status' => 'failed', 'end_time' => nil)
      expect(short['metrics'].map { |row| row['metrics'] }).to eq ['[]']
      expect(short['events']).to eq []
    end

    # It used to be one of the year 3168873852708, and that of the node as well.
    it 'have no end whose year has more than four digits' do
      [1e20, -1e20, 1e300].each do |seconds|
        found = rows(status: status, reports: [report.merge('times' => { 'total' => seconds })])
        expect(found['reports'].first['end_time']).to be_nil
        expect(found['nodes'].first['report_timestamp']).to eq '2026-11-23T01:02:03.000Z'
      end
    end
  end

  describe 'of documents in another form' do
    { 'facts' => { facts: { 'values' => 'secret' } }, 'a catalog' => { catalog: { 'resources' => ['secret'] } },
      'a resource without title' => { exports: { 'user' => [{ 'parameters' => { 'a' => 'secret' } }] } },
      'exports' => { exports: { 'user' => 'secret' } }, 'events' => { reports: [{ 'events' => 'secret' }] },
      'metrics' => { reports: [{ 'times' => 'secret' }] }, 'the status' => { status: ['secret'] },
      'the inventory record' => { inventory: 'secret' } }.each do |name, documents|
      it "are refused, without a value: #{name}" do
        expect { rows(**documents) }
          .to raise_error(Simpkv::MalformedError, /'web1' cannot be read: (?!.*secret)/)
      end
    end
  end

  it 'have times of other forms in UTC, and none for what is no time' do
    times = ['2026-11-23T01:02:03.4567+02:00', 'yesterday evening', 5].map do |time|
      rows(reports: [{ 'time' => time }])['reports'].first['start_time']
    end

    expect(times).to eq ['2026-11-22T23:02:03.456Z', nil, nil]
  end
end
