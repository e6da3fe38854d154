# frozen_string_literal: true

require 'json'

# Of the extension for MRI: no other binding has objects of Ruby in C's hands.
RSpec.describe 'Memory', :thorough, needs: :cext do
  native = Simpkv::Native
  # More members and elements than are put into their Hash or Array at once, and every way to make a String.
  document = { 'value' => (1..20).to_h { |i| ["k#{i}é\n", i] },
               'metadata' => { 'a' => ["\n" * 300, 'é', 1.5, 2**70], 'b' => (1..40).map(&:to_s) } }

  def under_stress
    GC.stress = true
    yield
  ensure
    GC.stress = false
  end

  it 'may be collected at every allocation while a document is written and read' do
    text = JSON.generate(document)
    found = under_stress { native.parse(native.generate(document)) }
    expect(found).to eq(JSON.parse(text))
  end

  if GC.respond_to?(:auto_compact=)
    it 'may be compacted at every allocation, too' do
      small = { 'value' => { 'a' => ['é', "\n", 1.5, 2**70] } }
      before = GC.auto_compact
      GC.auto_compact = true
      found = under_stress { native.parse(native.generate(small)) }
      GC.auto_compact = before
      expect(found).to eq(JSON.parse(JSON.generate(small)))
    end
  end

  it 'is given back when a document is refused' do
    refused = ['x' * 1_000_000, Object.new]
    resident = lambda do
      GC.start
      File.read('/proc/self/statm').split[1].to_i * 4096
    end
    refuse = ->(times) { times.times { expect { native.generate(refused) }.to raise_error(Simpkv::UnencodableError) } }

    refuse.call(20)
    before = resident.call
    refuse.call(300)
    # 300 MB if the buffers were lost.
    expect(resident.call - before).to be < 150_000_000
  end
end
