# frozen_string_literal: true

require_relative 'types_helper'

# Other clients write to the folder between its listing, which makes the titles, and the removals.
RSpec.shared_examples 'a purge beside other writers' do
  let(:manifest) { "simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/managed': value => 1 }" }
  let(:equal) { { value: 'equal' } }

  before { fill('app1/managed' => { value: 1 }, 'app1/B' => equal, 'app1/D' => equal, 'app1/old' => { value: 'old' }) }

  def path(name)
    "#{KeysAsResources::PRODUCTION}/app1/#{name}"
  end

  it 'removes the entries that it named, after others with smaller names came' do
    after_listing { fill('app1/A' => equal, 'app1/C' => equal, 'app1/new' => { value: 1 }) }
    apply!(manifest)
    expect(removed).to eq(key_resources('app1/old', 'app1:unnamed-1', 'app1:unnamed-2'))
    expect(keys).to eq(%w[app1/A app1/C app1/managed app1/new])
  end

  it 'removes none in the place of an entry that went' do
    after_listing do
      fill('app1/E' => equal)
      store.delete(path('B'))
    end
    apply!(manifest)
    expect(keys).to eq(%w[app1/E app1/managed])
    expect(removed - key_resources('app1/old', 'app1:unnamed-1', 'app1:unnamed-2')).to eq([])
  end

  it 'leaves an entry whose document changed, or that was made anew, with a notice' do
    after_listing do
      fill('app1/B' => { value: 'pl4nted-changed' }, 'app1/old' => { value: 'pl4nted-newer' })
    end
    apply!(manifest)
    expect(keys).to eq(%w[app1/B app1/managed app1/old])
    expect(removed).to eq(['Simpkv_key[app1:unnamed-2]'])
    expect(log.grep(/^notice: .*(app1.old|unnamed-1)/).length).to be >= 2
    expect(changed).to eq(['Simpkv_key[app1:unnamed-2]']) # The others were reported as changed, too.
    expect(log.join).not_to include('pl4nted-')
  end

  it 'leaves an entry that changes at the moment of its removal' do
    allow_any_instance_of(Simpkv::Store).to receive(:delete).and_wrap_original do |original, key, **options|
      fill('app1/old' => { value: 'newer' }) if key == path('old')
      original.call(key, **options)
    end
    apply!(manifest)
    expect(keys).to eq(%w[app1/managed app1/old])
    expect(changed).to eq(key_resources('app1:unnamed-1', 'app1:unnamed-2'))
  end

  it 'leaves an entry whose document can be read again' do
    fill('app1/broken1' => 'broken', 'app1/broken2' => 'broken')
    after_listing { fill('app1/broken1' => { value: 'mended' }) }
    apply!(manifest)
    expect(keys).to eq(%w[app1/broken1 app1/managed])
  end

  it 'leaves a folder that took the place of an entry' do
    after_listing do
      store.delete(path('old'))
      fill('app1/old/below' => { value: 1 })
    end
    apply!(manifest)
    expect(keys).to eq(%w[app1/managed app1/old/below])
    expect(log.join).to include("left '#{path('old')}' as it is: it is a folder now")
  end
end

RSpec.describe 'A purge beside other writers' do
  context 'with files' do
    include_context 'with keys as resources'
    it_behaves_like 'a purge beside other writers'
  end

  context 'with a directory' do
    include_context 'with keys in a directory', Slapd, layout: 'plain'
    it_behaves_like 'a purge beside other writers'
  end

  context 'with many of them' do
    include_context 'with keys as resources'

    # Adds and removes keys of its own until the queue is closed.
    #
    # @return [Array<String>] the keys that it left, none of which existed when the first listing was made
    def write(number, control)
      own = Simpkv::Store.open('file', 'root_path' => root)
      left = []
      until control.closed?
        left << "app1/#{number.even? ? 'w' : 'W'}#{number}-#{left.length}"
        fill({ left.last => { value: 'equal' } }, KeysAsResources::PRODUCTION, own)
        own.delete("#{KeysAsResources::PRODUCTION}/#{left.pop}") if (left.length % 3).zero?
      end
      left
    ensure
      own&.close
    end

    it 'never removes what it has not named' do
      fill((1..40).to_h { |n| ["app1/#{n.even? ? 'A' : 'a'}#{n}", { value: 'equal' }] })
      control = Queue.new
      writers = nil
      after_listing { writers ||= Array.new(4) { |number| Thread.new { write(number, control) } } }
      apply!("simpkv_folder { 'app1': purge => true }")
      control.close
      left = writers.flat_map(&:value)
      expect(removed.length).to eq(40)
      expect(keys).to eq(left.sort_by(&:b))
    end
  end
end
