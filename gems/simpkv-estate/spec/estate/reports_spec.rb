# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'

RSpec.describe 'Reports in the store of simpkv' do
  include EstateSite
  include EstateTermini

  let(:indirection) { Puppet::Transaction::Report.indirection }
  # Puppet cannot replace its state files in memory.
  let(:statedir) { Dir.mktmpdir('simpkv-state') }
  let(:stored) { estate.reports.latest('web1') }
  let(:details) { estate.reports.with_details('web1', [stored]).first }

  before { Puppet[:statedir] = statedir }
  after { FileUtils.remove_entry(statedir) }

  # The report of a run that applies a manifest on this machine.
  def report_of(manifest, certname: 'web1')
    Puppet[:node_name_value] = certname
    report = Puppet::Transaction::Report.new(1_790_000_000, 'production', 'uuid-1')
    compile(certname, manifest).to_ral.apply(report: report)
    report.transaction_completed = true
    report.add_times(:config_retrieval, 0.123456)
    report << Puppet::Util::Log.new(level: :notice, message: "Applied \u00e4", source: 'Puppet', tags: %w[notice])
    report.finalize_report
    report
  end

  # The same as a server receives it.
  def received(report)
    Puppet::Transaction::Report.convert_from('json', report.render('json'))
  end

  def file(name)
    File.join(scratch, name)
  end

  describe 'by the report processor' do
    before do
      route(:report, terminus: :processor)
      Puppet[:reports] = 'simpkv'
    end

    it 'are stored with all that the agent sends' do
      files = %w[a none/b].map { |name| "file { '#{file(name)}': content => 'x' }" }
      report = received(report_of(files.join("\n")))
      indirection.save(report)
      expect(stored).to include('host' => 'web1', 'status' => 'failed', 'environment' => 'production', 'noop' => false,
                                'corrective_change' => false, 'puppet_version' => Puppet.version, 'run' => 1,
                                'configuration_version' => 1_790_000_000, 'transaction_uuid' => 'uuid-1',
                                'producer' => Puppet[:certname], 'producer_timestamp' => match(/\.\d{3}Z\z/),
                                'changes' => 1, 'time' => report.time.utc.iso8601(9).sub(/0+Z/, 'Z'),
                                'events_left_out' => 0)
      expect(stored['resources']).to include('total' => 2, 'changed' => 1, 'failed' => 1)
      expect(stored['event_counts']).to include('total' => 2, 'success' => 1, 'failure' => 1)
      expect(stored['times']).to include('config_retrieval' => 0.123456, 'file' => a_kind_of(Float))
      expect(details).to include('logs' => include(include('level' => 'notice', 'message' => "Applied \u00e4",
                                                           'tags' => ['notice'])),
                                 'values' => [{ 'old' => 'absent', 'new' => 'file' }] * 2)
      expect(estate.statuses.get('web1')).to include('status' => 'failed', 'changes' => 1, 'failures' => 1, 'runs' => 1)
    end

    it 'have the events of resources, failures first' do
      manifest = "file { '#{file('a')}': content => 'x' }\nfile { '#{file('none/b')}': content => 'y' }"
      indirection.save(received(report_of(manifest)))
      failure, success = stored['events']
      expect(failure).to include('resource' => "File[#{file('none/b')}]", 'property' => 'ensure', 'status' => 'failure',
                                 'line' => 2, 'message' => include('No such file or directory'))
      expect(success).to include('resource' => "File[#{file('a')}]", 'property' => 'ensure', 'status' => 'success',
                                 'time' => match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z\z/), 'name' => 'file_created',
                                 'containment_path' => ['Stage[main]', 'Main', "File[#{file('a')}]"],
                                 'message' => start_with('defined content as'))
    end

    context 'with report_logs: false' do
      before { configure('report_logs' => false) }

      it 'have at most 100 events, and the number of the others, and no details' do
        indirection.save(received(report_of('Integer[1, 103].each |$n| { notify { "n$n": } }')))
        expect(stored['events'].length).to eq(100)
        expect(stored['events_left_out']).to eq(3)
        expect(stored['event_counts']['total']).to eq(103)
        expect(stored.keys + stored['events'].first.keys).not_to include('logs', 'details', 'name', 'containment_path')
        expect(files.keys.grep(/details/)).to eq([])
      end

      it 'have the beginning of a long message, in UTF-8' do
        indirection.save(received(report_of("notify { 'n': message => '#{'ä' * 2000}' }")))
        expect(stored['events'].first['message']).to match(/ä{900,}\.\.\.\z/)
        expect(stored['events'].first['message'].length).to be < 1010
      end
    end

    it 'have an event for each resource that was skipped' do
      fails = "file { '#{file('none/b')}': content => 'y' }"
      indirection.save(received(report_of("#{fails} -> notify { 'a': }\n notify { 'b': noop => true }")))
      expect(stored['events'].map { |event| event.values_at('resource', 'status', 'property') })
        .to eq([["File[#{file('none/b')}]", 'failure', 'ensure'], ['Notify[b]', 'noop', 'message'],
                ['Notify[a]', 'skipped', nil]])
    end

    it 'have the beginning of a long name that the agent sends' do
      report = Puppet::Transaction::Report.new('v' * 3_000_000, 'e' * 3_000_000)
      report.host = 'web1'
      indirection.save(received(report))
      expect(estate.statuses.get('web1')['environment'].length).to be_between(1000, 1010)
      expect(files['reports/web1/1'].bytesize).to be < 5000
    end

    it 'have no sensitive value' do
      manifest = "file { '#{file('a')}': content => Sensitive('s3cret') }"
      indirection.save(received(report_of(manifest)))
      indirection.save(report_of("file { '#{file('a')}': content => Sensitive('s3cret 2') }"))
      expect(stored['events'].first['message']).to include('redacted')
      expect(details['values']).to eq([{ 'old' => '[redacted]', 'new' => '[redacted]', 'redacted' => true }])
      expect(files.values.join + texts).not_to include('s3cret')
    end

    it 'are stored of a run that failed before its catalog' do
      report = Puppet::Transaction::Report.new(nil, 'production', 'uuid-2')
      report.host = 'web1'
      indirection.save(received(report))
      expect(stored).to include('status' => 'failed', 'resources' => {}, 'events' => [])
      expect(stored).not_to include('changes')
      expect(estate.statuses.get('web1')).to include('status' => 'failed', 'changes' => 0, 'failures' => 0)
    end

    it 'are deleted by puppet node clean' do
      indirection.save(received(report_of("notify { 'a': }")))
      indirection.destroy('web1')
      expect(estate.reports.all('web1')).to eq([])
    end

    it 'are refused for a node name that cannot be a key, with one error' do
      indirection.save(received(report_of("notify { 'a': }", certname: 'a b')))
      expect(texts).to match(/simpkv estate: could not save the report of 'a b'/)
      expect(estate.statuses.all).to eq({})
    end

    context 'if the backend fails' do
      let(:backend) { { 'type' => 'ldap', 'id' => 'estate', 'ldap_uri' => 'ldapi://%2Fnowhere', 'retries' => 0 } }

      it 'are lost with an error, and the other processors run' do
        Puppet[:reports] = 'simpkv,log'
        report = received(report_of("file { '#{file('a')}': content => Sensitive('s3cret') } notify { 'a': }"))
        messages.clear
        indirection.save(report)
        errors = messages.select { |message| message.level == :err }.map(&:message)
        expect(errors.grep(/simpkv estate: could not save the report of 'web1': .*nowhere/).length).to eq(1)
        expect(texts).to include('defined \'message\' as \'a\'').or include("defined 'message'")
        expect(texts).not_to include('s3cret')
      end
    end
  end

  { 'the main terminus' => { terminus: :simpkv },
    'the cache of the processors' => { terminus: :processor, cache: 'simpkv' },
    'the cache of an agent' => { terminus: :rest, cache: :simpkv } }.each do |place, termini|
    context "as #{place}" do
      before do
        route(:report, **termini)
        Puppet[:reports] = 'none'
      end

      let(:manifest) do
        "file { '#{file('a')}': content => 'x' }\nfile { '#{file('none/b')}': ensure => file } -> notify { 'b': }"
      end
      let(:report) { report_of(manifest) }

      # A metric is in no order, and a zone has two names.
      def form(report)
        data = JSON.parse(JSON.generate(report.to_data_hash).gsub('+00:00', 'Z'))
        data['metrics'].each_value { |metric| metric['values'].sort! }
        data
      end

      def save(report)
        indirection.save(report, nil, ignore_terminus: indirection.cache?)
      end

      it 'find the last report as it was' do
        save(report_of("notify { 'old': }"))
        save(report)
        found = indirection.find('web1')
        expect(found).to be_a(Puppet::Transaction::Report)
        expect(found.exit_status).to eq(report.exit_status)
        expect(form(found)).to eq(form(received(report)))
        expect(found.summary).to include('Resources:')
        expect(received(found).host).to eq('web1')
      end

      it 'search the reports of a node, newest first' do
        3.times { |number| save(report_of("notify { 'n#{number}': }")) }
        found = indirection.terminus(indirection.cache? ? indirection.cache_class : :simpkv)
                           .search(indirection.request(:search, 'web1', nil))
        expect(found.map { |each| each.resource_statuses.keys }).to eq([%w[Notify[n2]], %w[Notify[n1]], %w[Notify[n0]]])
      end
    end
  end

  it 'fail for one that is no summary, or leave it out with a warning' do
    route(:report, terminus: :simpkv)
    estate.store.put('globals/estate/reports/web1/3', '{"value":{"received":"3","events":["s3cret"]},"metadata":{}}')
    expect { indirection.find('web1') }.to raise_error(Puppet::Error, /'web1': one is no summary of a report/)
    configure('skip_undecodable' => true)
    expect(indirection.find('web1')).to be_nil
    expect(warnings).to eq(["simpkv estate: left out a report of 'web1', which cannot be read"])
  end
end
