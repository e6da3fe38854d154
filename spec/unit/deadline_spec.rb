# frozen_string_literal: true

require 'simpkv'

RSpec.describe Simpkv::Deadline do
  it 'gives an operation the time that the earlier ones of its call have left' do
    deadline = described_class.new
    expect(deadline.left(5000)).to be_between(4000, 5000)
    sleep 0.02
    expect(deadline.left(5000)).to be <= 4980
    expect { deadline.left(20) }.to raise_error(Simpkv::TimeoutError, /no time is left/)
  end

  describe 'of a store' do
    let(:passed) { described_class.new.tap { |deadline| allow(deadline).to receive(:left).and_raise(Simpkv::TimeoutError) } }

    def directory
      Simpkv::Store.open('ldap', 'ldap_uri' => 'ldapi://%2Fnonexistent', 'id' => 'x', 'operation_timeout_seconds' => 5)
    end

    it 'ends the operations of its call, through all layers, and no others' do
      store = directory
      layer = Simpkv::Layer.new(Simpkv::Layer.new(store))
      [store, layer].each do |each|
        bounded = each.within(passed)
        expect { bounded.get('globals/k') }.to raise_error(Simpkv::TimeoutError)
        expect { bounded.put('globals/k', '{}') }.to raise_error(Simpkv::TimeoutError)
        expect { each.get('globals/k') }.to raise_error(Simpkv::UnavailableError)
      end
    end

    it 'does not concern a store in files, which waits for each lock by itself' do
      Dir.mktmpdir do |root|
        store = Simpkv::Store.open('file', 'root_path' => root)
        layer = Simpkv::Layer.new(store)
        expect([store.within(passed), layer.within(passed)]).to eq([store, layer])
      end
    end
  end
end
