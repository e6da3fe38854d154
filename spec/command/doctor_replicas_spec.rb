# frozen_string_literal: true

require_relative 'doctor_helper'
require_relative '../support/eventually'
require_relative '../support/replica'

RSpec.describe 'simpkv doctor, with a replica of OpenLDAP' do
  include Eventually

  include_context 'with doctor'
  include_context 'with slapd', more: Replica::SUPPLIER, limits: true

  attr_reader :replica

  let(:follows) { false }
  let(:backends) do
    { 'default' => slapd.options('type' => 'ldap', 'id' => id, 'write_uri' => slapd.uri,
                                 'ldap_uri' => "#{replica.uri} #{slapd.uri}") }
  end
  let(:supplier) { Simpkv::Store.open('ldap', slapd.options('id' => id)) }
  let(:copy) { Simpkv::Store.open('ldap', replica.options('id' => id)) }

  around do |example|
    Replica.run(slapd, follows: follows, limits: true) do |server|
      @replica = server
      example.run
    end
  end

  after { [supplier, copy].each(&:close) }

  def document(value)
    %({"value":"#{value}"})
  end

  # Stores keys, and waits for them at the replica.
  def replicate(*names)
    names.each { |name| supplier.put("globals/#{name}", document('first')) }
    replica.restart unless follows
    eventually { copy.get("globals/#{names.last}") }
  end

  # Doctor said ok.
  it 'names the keys that it lacks, has with other documents, or has in addition' do
    replicate('changed', 'deleted', 'same')
    expect(findings('--list-size', '1')).to eq([])
    supplier.put('globals/changed', document('pl4nted'))
    supplier.put('globals/added', document('pl4nted'))
    supplier.delete('globals/deleted')
    found = findings('--read-only').select { |finding| finding['what'] == 'replication' }
    why = "of the 3 keys of #{slapd.uri}, #{replica.uri} lacks 1 key, such as 'globals/added'; has other documents " \
          "of 1 key, such as 'globals/changed'; has in addition 1 key, such as 'globals/deleted'"
    expect(found).to contain_exactly(problem('replication', /\A#{Regexp.escape(why)}\z/,
                                             /was killed .* never sends them: copy them to the server .*REPLICA_DN/))
    expect(found.to_s).not_to include('pl4nted')
  end

  it 'warns if write_uri does not say which of several servers takes writes' do
    writes = -> { findings('--read-only').select { |finding| finding['what'] == 'writes' } }
    expect(writes.call).to eq([])
    backends['default'].delete('write_uri')
    File.write(config, { 'backends' => backends }.to_yaml)
    expect(writes.call).to match([warning('writes', /no 'write_uri' says/, /set 'write_uri' to one server/)])
  end

  context 'that follows at once' do
    let(:follows) { true }

    it 'does not report a change that is made meanwhile' do
      replicate('changing')
      done = false
      # Without a pause, the replica lags on a busy machine.
      writer = Thread.new { supplier.put('globals/changing', document(rand)) && sleep(0.01) until done }
      expect(findings('--read-only').map { |finding| finding['what'] }).to eq(['rights and limits'])
      done = true
      writer.join
    end
  end
end
