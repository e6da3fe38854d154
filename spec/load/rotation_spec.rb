# frozen_string_literal: true

require_relative '../support/clock'
require_relative '../support/race'
require_relative '../support/tally'

# Many catalogs find the same keys expired at the same time, as several compilers do.
RSpec.describe 'Of expired keys', needs: :fork, heavy: true do
  include Clock
  include Race

  processes = 16
  keys = 200

  # Stores keys that have expired, and lets processes rotate them.
  #
  # @return [Array<Array>] for each key the values that the processes return
  def rotated(site, processes, keys)
    clock_at('2026-11-23T15:00:00Z')
    world = PuppetWorld.new(hiera: site)
    old = (1..keys).to_h { |key| ["race/k#{key}", { 'value' => 'old' }] }
    world.call('simpkv::put_many', old, { 'expires_after' => '90d' })
    world.close
    clock_at('2027-02-22T15:00:00Z')
    # In the same order, so that they want each key at the same moment.
    at_once(processes, site) do |each, number|
      (1..keys).map { |key| rotate(each, "race/k#{key}", "of process #{number}") }
    end.transpose
  end

  def rotate(world, key, value)
    world.call('simpkv::get_or_create', key, {}, { 'expires_after' => '90d' }) { |_| value }['value']
  end

  # @return [Array<Array>] for each key its value and the two before it
  def stored(site, keys)
    world = PuppetWorld.new(hiera: site)
    (1..keys).map do |key|
      [0, -1, -2].map do |version|
        world.call('simpkv::get', "race/k#{key}", { 'version' => version, 'default' => nil })['value']
      end
    end
  ensure
    world.close
  end

  # @return [Array<Integer>] the keys that the server replaced twice (docs/adr/0013)
  def replaced_twice(server, keys)
    replaced = server.is_a?(Ds389) ? server.replaced_twice.select { |_, times| times.positive? } : {}
    (1..keys).select do |key|
      path = "environments/production/race/k#{key}"
      replaced.key?(Simpkv::Native.dn_from_path(:plain, :key, DirectoryServer::BASE_DN, 'race', path))
    end
  end

  Race::BACKENDS.each do |name, with|
    it "16 processes replace each once, and all return that value (#{name})", ds389: name == '389-DS' do
      with.call do |backend, server|
        server.audit if server.is_a?(Ds389)
        site = { 'backends' => { 'default' => backend } }
        returned = rotated(site, processes, keys)
        twice = replaced_twice(server, keys)
        tally = Tally.new("rotation, #{name} (the server replaced #{twice.length} of #{keys} keys twice)")
        tally.add(operations: processes * keys)
        # If the server replaces a key twice, both writers have seen the old value, and the last one counts.
        wrong = returned.zip(stored(site, keys)).each_with_index.reject do |(values, (value, *before)), index|
          before == ['old', nil] && (values.uniq == [value] || twice.include?(index + 1))
        end
        expect(wrong).to eq([])
        # The processes did compete: no single process replaced all keys.
        expect(returned.flatten.uniq.length).to be > 1
      end
    end
  end
end
