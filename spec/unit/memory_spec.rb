# frozen_string_literal: true

require 'json'
require_relative '../support/file_store'

# Of the extension for MRI: no other binding has objects of Ruby in C's hands.
RSpec.describe 'Memory', :thorough, needs: :cext do
  native = Simpkv::Native
  # More members and elements than are put into their Hash or Array at once, and every way to make a String.
  document = { 'value' => (1..20).to_h { |i| ["k#{i}é\n", i] },
               'metadata' => { 'a' => ["\n" * 300, 'é', 1.5, 2**70], 'b' => (1..40).map(&:to_s) } }

  # @yield while each allocation collects what nobody has any more, and, where Ruby can, moves all the rest
  def under_stress(compacting)
    before = GC.auto_compact if compacting
    GC.auto_compact = true if compacting
    GC.stress = true
    yield
  ensure
    GC.stress = false
    GC.auto_compact = before if compacting
  end

  { 'collected' => false, **(GC.respond_to?(:auto_compact=) ? { 'compacted' => true } : {}) }.each do |what, compacting|
    describe "that is #{what} at every allocation" do
      include FileStoreHelp

      it 'does no harm to what is written and read' do
        some = compacting ? { 'value' => { 'a' => ['é', "\n", 1.5, 2**70] } } : document
        found = under_stress(compacting) { native.parse(native.generate(some)) }
        expect(found).to eq(JSON.parse(JSON.generate(some)))
      end

      # All that a store is asked, and what it answers.
      def use(store)
        [store.put('globals/f/k', '{"value":1}'), store.get('globals/f/k'), store.list('globals/f'),
         store.tree('', values: false), store.exist?('globals/f'),
         raised { store.put('globals/f/k', '{}', condition: :absent) }, raised { store.get('globals/n') },
         store.delete('globals/f/k'), store.deletetree('globals')]
      end

      def raised
        yield
      rescue Simpkv::Error => e
        e.message
      end

      it 'does no harm to the calls of a store' do
        usual = use(store)
        moved = GC.stat[:compact_count]
        expect(under_stress(compacting) { use(store) }).to eq(usual)
        expect(GC.stat[:compact_count]).to be > moved if compacting
      end
    end
  end

  it 'is given back when a document is refused' do
    refused = ['x' * 1_000_000, Object.new]
    resident = lambda do
      GC.start
      File.read('/proc/self/statm').split[1].to_i * 4096
    end
    refuse = ->(times) { times.times { expect { native.generate(refused) }.to raise_error(Simpkv::UnencodableError) } }

    # The first ones fill what a sanitizer keeps of what was freed.
    refuse.call(300)
    before = resident.call
    refuse.call(300)
    # 300 MB if the buffers were lost.
    expect(resident.call - before).to be < 150_000_000
  end
end
