# frozen_string_literal: true

require 'simpkv/query/builder'
require_relative '../../../../spec/command/doctor_helper'
require_relative '../../../simpkv-estate/spec/command/nodes_helper'
require_relative '../../../../spec/support/key_file'

RSpec.describe 'simpkv doctor, with an index of queries' do
  include KeyFile

  include_context 'with doctor'
  include_context 'with nodes for the command'

  let(:site) do
    { 'backends' => backends, 'estate' => estate_options, 'server' => { 'index' => File.join(folder, 'index') } }
  end
  let(:same_estate) { Simpkv::Estate.new(site) }
  let(:index) { Simpkv::Query::Index.of(same_estate, site['server']['index']) }

  before do
    simpkv!('init')
    File.write(File.join(folder, 'puppet.conf'),
               "[server]\nstoreconfigs = true\nstoreconfigs_backend = simpkv\nreports = simpkv\n")
    run('web1', exports: { 'host' => [host('web1')] })
  end

  after { index.close }

  def refresh
    Simpkv::Query::Builder.new(same_estate, index).refresh
  end

  def write(sql)
    database = Simpkv::Query::Index.open(index.path)
    database.execute(sql)
  ensure
    database&.close
  end

  # @return [String, nil] the line of the finding about a sound index
  def line
    simpkv!('doctor')[/^ok +index of queries: (.*)/, 1]
  end

  it 'is silent if there is none' do
    expect([findings, line]).to eq [[], nil]
    expect(Dir.exist?(site['server']['index'])).to be false
  end

  it 'says of which time it is' do
    refresh
    expect([findings, line]).to match [[], /\Aas of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/]

    index.update { |writer| writer.note('refreshed' => 1_790_000_000.0) }
    expect(line).to eq 'as of 2026-09-21T14:13:20Z, and no service refreshes it'
    index.update { |writer| writer.note('refreshed' => 4_070_908_800.0) }
    expect(line).to eq 'as of 2099-01-01T00:00:00Z, which is yet to come, until the next refresh'
    index.update { |writer| writer.note('refreshed' => nil) }
    expect(line).to eq 'not complete yet'
  end

  it 'finds that it cannot be refreshed' do
    refresh
    document = 'globals/estate/facts/web1'
    sound = estate.store.get(document)
    run('web1', facts: { 'a' => 1 })
    estate.store.put(document, 's3cret')
    expect { refresh }.to raise_error(Simpkv::MalformedError)
    estate.store.put(document, sound)

    expect(findings).to contain_exactly(
      problem('index of queries', /cannot be refreshed since 20.*#{document}' cannot be read/, /remove the cause/)
    )
  end

  it 'finds nodes that are not as in the store, and tells what to delete' do
    refresh
    write("UPDATE facts SET value = 's3cret'")
    found = findings

    expect(found).to contain_exactly(
      problem('index of queries', /1 node not as in the store: web1\z/, /\Arm .*\*: the next refresh makes it anew/)
    )
    system(found.first['fix'][/\Arm [^:]+/])
    refresh
    expect(findings).to eq []
  end

  it 'finds a damaged file, and deletes nothing' do
    refresh
    index.close
    File.write(index.path, 'x' * 4096)

    expect(findings).to contain_exactly(problem('index of queries', /damaged/, /\Arm .*\*: the/))
    expect(File.size(index.path)).to eq 4096
  end

  # It used to say that the index must be deleted, after which no query had an answer.
  it 'keeps an index that cannot be compared, and tells how to repair the document of the store' do
    refresh
    %w[status/web1 facts/web1 inventory/web1 exported/host/web1 reports/web1/1].each do |document|
      run('web1', exports: { 'host' => [host('web1')] })
      refresh
      estate.store.put("globals/estate/#{document}", '{"value": broken')
      found = findings.find { |finding| finding['what'] == 'index of queries' }

      expect(found).to problem('index of queries', %r{'globals/estate/#{document}' cannot be read},
                               /\Asimpkv rm -g estate|, or delete it: simpkv rm -g estate/)
      found['fix'].scan(/ rm -g (\S+?),/).flatten.each { |key| simpkv!('rm', '-g', key) }
      expect { refresh }.not_to raise_error
    end
  end

  it 'finds the index of the plain store on a disk after the store was encrypted' do
    stub_const('Simpkv::Query::Index::Place::ON_DISK', File.join(folder, 'cache'))
    plain = Simpkv::Query::Index.of(same_estate)
    plain.reader.close
    plain.close
    keyring
    backends['default']['encryption_keys'] = key_file
    configure

    expect(findings).to include(
      problem('index of queries', /'#{plain.path}' has .* before it was encrypted/, /restart .* rm #{plain.path}\*/)
    )
    expect(File.exist?(plain.path)).to be true
    # The files that are locked stay.
    FileUtils.rm(Dir["#{plain.path}*"])
    expect(findings).not_to include(include('what' => 'index of queries'))
  end

  it 'does not examine an index that another user could have changed' do
    refresh
    File.chmod(0o777, site['server']['index'])

    expect(findings).to contain_exactly(
      include('state' => 'unknown', 'what' => 'index of queries', 'why' => /not examined: .* has rights for others/)
    )
  end
end
