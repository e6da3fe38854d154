# frozen_string_literal: true

require 'simpkv'
require 'tmpdir'

RSpec.describe Simpkv::Deadline do
  it 'gives an operation the time that the earlier ones of its call have left' do
    deadline = described_class.new
    expect(deadline.left(5000)).to be_between(1000, 5000)
    sleep 0.02
    expect(deadline.left(5000)).to be <= 4980
    expect { deadline.left(20) }.to raise_error(Simpkv::TimeoutError, /no time is left/)
  end

  describe 'of a store' do
    let(:passed) { described_class.new.tap { |deadline| allow(deadline).to receive(:left).and_raise(Simpkv::TimeoutError) } }

    def directory
      Simpkv::Store.open('ldap', 'ldap_uri' => 'ldapi://%2Fnonexistent', 'id' => 'x', 'operation_timeout_seconds' => 5)
    end

    calls = { get: [], describe: [], exist?: [], kind: [], stat: [], put: ['{}'], delete: [] }

    it 'ends the operations of its call, through all layers, and no others' do
      [directory, Simpkv::Layer.new(directory), Simpkv::VersionedStore.new(directory, history: 1)].each do |store|
        calls.each do |name, more|
          call = ->(**options) { store.public_send(name, 'globals/k', *more, **options) }
          expect { call.call(deadline: passed) }.to raise_error(Simpkv::TimeoutError)
          expect(&call).to raise_error(Simpkv::UnavailableError)
        end
      end
    end

    it 'does not concern a store in files, which waits for each lock by itself' do
      Dir.mktmpdir do |root|
        store = Simpkv::Store.open('file', 'root_path' => root)
        store.put('globals/k', '{}')
        results = calls.map { |name, more| store.public_send(name, 'globals/k', *more, deadline: passed) }
        expect(results).to match(['{}', '{}', true, :key, include('kind' => 'key'), false, true])
      end
    end
  end
end
