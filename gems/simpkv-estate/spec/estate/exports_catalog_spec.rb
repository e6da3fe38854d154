# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'

RSpec.describe 'Catalogs in the store of simpkv' do
  include EstateSite
  include EstateTermini

  let(:indirection) { Puppet::Resource::Catalog.indirection }
  let(:manifest) do
    <<~PUPPET
      @@file { '/exported': }
      @file { '/virtual': }
      file { '/secret': content => Sensitive('pl4nted'), require => Notify['x'] }
      notify { 'x': message => Deferred('join', [['a', 'b'], '-']) }
    PUPPET
  end

  # The catalog as it is sent to an agent, and read there.
  def sent(catalog)
    Puppet.override(rich_data: true) do
      Puppet::Resource::Catalog.convert_from('rich_data_json', catalog.filter(&:virtual?).render('rich_data_json'))
    end
  end

  it 'are stored with catalogs: true, and otherwise not' do
    run_node('web1', manifest)
    expect(estate.catalogs.get('web1')).to be_nil

    configure('catalogs' => true)
    run_node('web1', manifest)
    expect(estate.catalogs.get('web1')['resources'].map { |resource| resource['title'] })
      .to include('/secret', 'x').and(satisfy { |titles| (titles & %w[/exported /virtual]).empty? })
  end

  it 'have the server that compiled them, and the ids of the run' do
    configure('catalogs' => true)
    save('web1', compile('web1', manifest), transaction_uuid: 'uuid-1', job_id: '7')
    expect(estate.catalogs.get('web1'))
      .to include('producer' => Puppet[:certname], 'producer_timestamp' => match(/\.\d{3}Z\z/),
                  'transaction_uuid' => 'uuid-1', 'job_id' => '7')
  end

  it 'fail with the name of the parameter that no document can hold, and nothing of its value' do
    configure('catalogs' => true)
    add_manifest('site::item', 'define site::item($value) { }')
    deep = "#{"{ 'pl4nted' => " * 99}1#{' }' * 99}"
    manifest = "site::item { 'x': value => Sensitive(#{deep}) }"

    expect { run_node('web1', manifest) }.to raise_error(Puppet::Error) { |error|
      expect(error.message).to match(/could not save the catalog of 'web1': the parameter 'value' of Site::Item\[x\] /)
      expect(error.full_message(highlight: false)).not_to include('pl4nted')
    }
  end

  # They were missing.
  it 'have the edges to exported resources, and those of other virtual ones not' do
    configure('catalogs' => true)
    run_node('web1', manifest)
    stored = estate.catalogs.get('web1')
    expect(stored['exported_edges']).to eq([{ 'source' => 'Class[main]', 'target' => 'File[/exported]' }])
    expect(stored['edges'].map { |edge| edge['target'] }).to include('File[/secret]', 'Notify[x]')
      .and(satisfy { |targets| (targets & %w[File[/exported] File[/virtual]]).empty? })
  end

  context 'when simpkv is the main terminus' do
    before { route(:catalog, terminus: :simpkv) }

    it 'are saved, found and deleted, with parameters of all types' do
      catalog = compile('web1', manifest)
      indirection.save(catalog, 'web1')
      found = indirection.find('web1')

      expect(found.resources.map(&:ref)).to match_array sent(catalog).resources.map(&:ref)
      expect(found.resource('File', '/secret').to_data_hash)
        .to eq sent(catalog).resource('File', '/secret').to_data_hash
      expect(found.resource('File', '/secret').sensitive_parameters).to eq [:content]
      expect(found.resource('Notify', 'x')[:message].name).to eq 'join'
      expect([indirection.destroy('web1'), indirection.find('web1'), indirection.destroy('web1')])
        .to eq [true, nil, false]
    end

    it 'change no exports when they are saved, as they may have none any more' do
      estate.exports.save('web1', { 'file' => [{ 'title' => '/a' }] }, 'production')
      indirection.save(sent(compile('web1', manifest)), 'web1')

      expect(estate.exports.of('web1')).to eq('file' => [{ 'title' => '/a' }])
    end

    {
      'is no Hash' => ->(_) { ['pl4nted'] },
      'has no resources that are resources' => ->(data) { data.merge('resources' => [{ 'pl4nted' => 1 }]) },
      'names a type that generates code' => lambda do |data|
        data.merge('resources' => [{ 'type' => 'File', 'title' => '/a', 'parameters' => { 'mode' => {
                     '__ptype' => 'Pcore::ObjectType', 'name' => 'pl4nted'
                   } } }])
      end,
      'names a type that is a path' => lambda do |data|
        data.merge('resources' => [{ 'type' => '../../pl4nted', 'title' => 'x', 'parameters' => { 'name' => 'x' } }])
      end,
      'has a relationship to a type that is a path' => lambda do |data|
        data.merge('resources' => [{ 'type' => 'File', 'title' => '/a',
                                     'parameters' => { 'Require' => ['Notify[x]', '../../pl4nted[x]'] } }])
      end,
      'has an edge to a type that is a path' => lambda do |data|
        data.merge('edges' => [{ 'source' => 'Class[Main]', 'target' => '../../pl4nted[x]' }])
      end
    }.each do |what, change|
      it "are an error that names the node if what is stored #{what}" do
        indirection.save(compile('web1', manifest), 'web1')
        estate.catalogs.put('web1', change.call(estate.catalogs.get('web1')))

        expect(Puppet::Type).not_to receive(:type).with(/pl4nted/i)
        expect { indirection.find('web1') }.to raise_error(Puppet::Error) { |error|
          expect(error.full_message(highlight: false)).to include("could not read the catalog of 'web1'")
          expect(error.full_message(highlight: false)).not_to include('pl4nted')
        }
      end
    end
  end

  context 'when simpkv is the cache of the compiler' do
    let(:site_options) { { 'catalogs' => true } }

    before do
      run_node('web1', manifest)
      route(:catalog, terminus: :compiler, cache: 'simpkv')
    end

    it 'are not found there, as Puppet would deliver the last one' do
      expect(indirection.cache.find(indirection.request(:find, 'web1', nil))).to be_nil
    end

    it 'are found there when Puppet asks for the cached one only' do
      found = indirection.find('web1', ignore_terminus: true)

      expect(found.resource('File', '/secret').sensitive_parameters).to eq [:content]
    end
  end

  context 'when simpkv is the cache of an agent' do
    before { route(:catalog, terminus: 'rest', cache: 'simpkv') }

    it 'are stored with catalogs: true, and change neither exports nor status' do
      estate.exports.save('web1', { 'file' => [{ 'title' => '/a' }] }, 'production')
      [{}, { 'catalogs' => true }].each do |options|
        configure(options)
        save('web1', sent(compile('web1', manifest)))
        expect(estate.exports.of('web1')).to eq('file' => [{ 'title' => '/a' }])
        expect(estate.statuses.get('web1')).to be_nil
      end
      expect(indirection.find('web1', ignore_terminus: true).resource('File', '/secret')[:content]).to eq 'pl4nted'
      expect(indirection.cache.find(indirection.request(:find, 'web1', nil))).to be_nil
    end
  end

  # They used to replace what the node itself had stored.
  describe 'that are not for a run of the node' do
    let(:site_options) { { 'catalogs' => true } }

    before { estate.exports.save('web1', { 'file' => [{ 'title' => '/a' }] }, 'production') }

    it 'change nothing, with an operator who compiles them', needs: :mri do
      before = files
      ['', 'server'].each do |mode|
        Puppet.settings.preferred_run_mode = mode.to_sym unless mode.empty?
        indirection.cache.save(indirection.request(:save, 'web1', compile('web1', manifest)))
      end
      puppet('catalog', 'compile', 'web1', '--facts_terminus', 'memory', '--storeconfigs',
             '--storeconfigs_backend', 'simpkv')
      expect(files).to eq(before)
    end

    it 'are stored for this machine, and in a puppetserver' do
      Puppet[:node_name_value] = 'web1'
      indirection.cache.save(indirection.request(:save, 'web1', compile('web1', manifest)))
      stub_const('Puppet::Server', Module.new)
      indirection.cache.save(indirection.request(:save, 'web2', compile('web2', manifest)))

      expect(%w[web1 web2].map { |name| estate.exports.of(name) })
        .to all(match('file' => [include('title' => '/exported')]))
    end
  end

  describe 'and the status of the node' do
    it 'is that of the run, if there are no reports of simpkv' do
      ['', 'none', 'store', 'http,store'].each_with_index do |reports, index|
        Puppet[:reports] = reports
        run_node("web#{index}", manifest, environment: 'testing')
        expect(estate.statuses.get("web#{index}")).to match('last_seen' => /\A\d{4}-.*Z\z/, 'environment' => 'testing')
      end
    end

    it 'keeps the time of the last catalog that came over HTTP' do
      estate.statuses.put('web1', 'status' => 'failed', 'catalog_timestamp' => '2026-11-23T01:00:00.000Z')
      run_node('web1', manifest)
      expect(estate.statuses.get('web1'))
        .to match('last_seen' => String, 'environment' => String, 'catalog_timestamp' => '2026-11-23T01:00:00.000Z')
    end

    # The catalog used to replace the status of the last report, and the number of runs.
    it 'is left to the terminus simpkv of reports' do
      [{ terminus: 'simpkv' }, { terminus: :processor, cache: 'simpkv' }].each do |termini|
        route(:report, **termini)
        estate.reports.save('web1', 'status' => 'changed', 'environment' => 'production')
        before = estate.statuses.get('web1')
        run_node('web1', manifest)
        expect(estate.statuses.get('web1')).to eq(before)
      end
    end

    it 'is left to the report processor simpkv' do
      ['simpkv', 'store, simpkv'].each do |reports|
        Puppet[:reports] = reports
        run_node('web1', manifest)
        expect(estate.statuses.get('web1')).to be_nil
      end
    end
  end

  it 'take no call of the store if nothing changed since the facts were saved, and reports have the status' do
    Puppet[:reports] = 'simpkv'
    run_node('web1', manifest)
    estate.facts.save('web1', { 'os' => 'x' })
    estate.facts.save('web1', { 'os' => 'x' })
    store = estate.store
    %i[get put put_many list delete].each { |call| allow(store).to receive(call).and_call_original }
    run_node('web1', manifest)

    %i[get put put_many list delete].each { |call| expect(store).not_to have_received(call) }
  end

  describe 'and the indirection of resources' do
    let(:resources) { Puppet::Resource.indirection }

    before do
      run_node('web1', "@@file { '/a': mode => '0600', tag => 'x', content => Sensitive('pl4nted') } @@file { '/b': }")
      run_node('web2', "@@file { '/c': }")
    end

    it 'finds one by type and title' do
      found = resources.find('File//a')

      expect([found.ref, found[:mode], found.exported, found.tags.include?('x')]).to eq ['File[/a]', '0600', true, true]
      expect([found.inspect, found.to_s].join).not_to include('pl4nted')
      expect([resources.find('File//none'), resources.find('Host/x'), resources.find('file')]).to all(be_nil)
    end

    it 'finds all of a type, or those of other nodes' do
      expect(resources.search('File').map(&:title)).to eq %w[/a /b /c]
      expect(resources.search('file', host: 'web1').map(&:title)).to eq %w[/c]
    end

    # It used to ignore the condition.
    it 'finds those that fulfil the condition of a caller without a scope' do
      filter = [%w[tag == x], 'or', [%w[title != /a], 'and', %w[title != /b]]]
      expect(resources.search('file', filter: filter).map(&:title)).to eq %w[/a /c]
      expect(resources.search('file', filter: ['mode', '==', /^06/]).map(&:title)).to eq []
    end

    it 'refuses to save or delete one by itself' do
      resource = Puppet::Resource.new('File', '/a')

      expect { resources.save(resource) }.to raise_error(Puppet::Error, /cannot be saved by itself/)
      terminus = resources.terminus(:simpkv)
      expect { terminus.destroy(resources.request(:destroy, 'File//a', nil)) }
        .to raise_error(Puppet::Error, /cannot be deleted by itself.*puppet node deactivate/)
    end

    it 'does not serve other machines' do
      expect(resources.terminus(:simpkv).allow_remote_requests?).to be false
    end
  end
end
