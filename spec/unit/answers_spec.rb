# frozen_string_literal: true

require_relative '../support/eventually'
require_relative '../support/file_store'

# A get that checks, reads and decodes in one call of the core.
RSpec.describe Simpkv::Store, '#get_decoded' do
  include Eventually
  include FileStoreHelp

  def decoded(key, upper: false)
    store.get_decoded('globals', key, upper)
  end

  before { %w[a b].each { |name| store.put("globals/#{name}", %({"value":"of #{name}"})) } }

  # The binding for FFI keeps the place of the answer.
  it 'returns its own value, though a signal handler gets another key meanwhile' do
    nested = nil
    former = trap(:USR2) { nested = store.get_decoded('globals', 'b', false) }
    locked = Queue.new
    # The signal arrives while the call waits for the lock.
    other = Thread.new do
      with_lock('globals/a') do
        locked << true
        sleep 0.1
        Process.kill(:USR2, Process.pid)
        sleep 0.1
      end
    end
    locked.pop
    expect(decoded('a')).to eq(value: 'of a', metadata: {})
    other.join
    eventually { nested }
    expect(nested).to eq(value: 'of b', metadata: {})
  ensure
    trap(:USR2, former || 'DEFAULT')
  end

  it 'returns the values of their own to threads and fibers' do
    threads = %w[a b a b].map { |name| Thread.new { Array.new(500) { decoded(name)[:value] }.uniq } }
    expect(threads.map(&:value)).to eq([['of a'], ['of b']] * 2)
    fibers = %w[a b].map { |name| Fiber.new { 3.times { Fiber.yield(decoded(name)[:value]) } } }
    expect(Array.new(3) { fibers.map(&:resume) }).to eq([['of a', 'of b']] * 3)
  end

  it 'returns a document as it is if it has more in it, or is large, and none for a key that is refused' do
    more = '{"value":1,"encoding":"other"}'
    large = %({"value":"#{'x' * 10_000}"})
    { 'more' => more, 'large' => large, 'empty' => '' }.each { |name, document| store.put("globals/#{name}", document) }
    expect(decoded('more')).to eq(more).and have_attributes(encoding: Encoding::UTF_8)
    expect(decoded('large')).to eq(large).or eq(value: 'x' * 10_000, metadata: {})
    expect([decoded('empty'), decoded('/'), decoded('A'), decoded('a b'),
            decoded("é\xff")]).to eq(['', nil, nil, nil, nil])
    expect { decoded('A', upper: true) }.to raise_error(Simpkv::NotFoundError) { |error| expect(error.key).to eq('globals/A') }
    expect { decoded(5) }.to raise_error(TypeError, 'no implicit conversion of Integer into String')
  end

  it 'leaves nothing of a value at the place of the answer', needs: :ffi do
    store.put('globals/more', '{"value":"of more","encoding":"other"}')
    %w[a more].each { |key| expect(decoded(key).to_s).to include("of #{key}") }
    Simpkv::Native.plain_document('{"value":"of no key"}')
    place = Thread.current[:simpkv_answer].instance_variable_get(:@answer)
    expect(place.get_bytes(0, 4096).delete("\0")).to eq('')
  end

  # The garbage collector used to free the answer of a missing key again.
  it 'frees an answer once, though another thread raises meanwhile', needs: %i[mri ffi] do
    freeing = nil
    trace = TracePoint.new(:return) do |point|
      next if freeing || !point.self.is_a?(FFI::AutoPointer::Releaser) || point.method_id != :release

      freeing = point.self
      Thread.current.raise('as of another thread')
    end
    expect { trace.enable { decoded('none') } }.to raise_error('as of another thread')
    freed_again = freeing.autorelease
    freeing.autorelease = false
    expect(freed_again).to be(false)
  end

  it 'refuses a closed store, also one that is frozen' do
    store.freeze.close
    expect { decoded('a') }.to raise_error(Simpkv::InvalidError, 'the store is closed')
  end
end
