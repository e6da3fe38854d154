# frozen_string_literal: true

require_relative 'availability_helper'
require_relative '../support/command'
require_relative '../support/faulty_proxy'

# A proxy that runs a block before it passes a change of an entry to the server.
class ChangeWatch < FaultyProxy
  def initialize(uri, &block)
    @block = block
    super(uri)
  end

  private

  def late?(direction, bytes)
    @block.call if direction == :up && LdapRequest.kind(bytes) == :modify
    false
  end
end

# What docs/high-availability.md says about two servers that take writes, and about writes that only one server has.
Pairs.each do |name, kind, tags|
  RSpec.describe "A pair of #{name}", **tags, long: kind != MirrorMode do
    include Processes

    include_context 'with a pair', kind

    let(:folder) { 'environments/production' }
    let(:key) { "#{folder}/password" }

    # Both servers have the folder, so that a conflict is about the key alone.
    before do
      each_store.first.put("#{folder}/other", document(0))
      pair.settle
    end

    # @return [Object] the value that a catalog with that store gets or creates
    def got_or_created(store, value)
      store.put(key, document(value), condition: :absent)
      value
    rescue Simpkv::ExistsError
      JSON.parse(store.get(key, latest: true))['value']
    end

    # @return [Integer] the number of entries that 389-DS keeps of the values that lost
    def losers
      return 0 unless pair.respond_to?(:conflicts)

      pair.conflicts.first.grep(/simpkvKey=password.*ou=#{id},/i).length
    end

    it 'gives two catalogs different values of one key if two servers take writes, and keeps one of them' do
      values = nil
      pair.apart { values = each_store.map.with_index { |store, number| got_or_created(store, number) } }
      expect(values).to eq([0, 1])
      # OpenLDAP keeps the later value, 389-DS the earlier one, and the other one in an entry that no search shows.
      expect([replicated['password'], losers]).to eq(kind == MirrorMode ? [1, 0] : [0, 1])
    end

    it 'with both servers in write_uri, writes to the first one again before it has what the second one has' do
      uris = pair.map(&:tcp_uri)
      store = open_store('write_uri' => uris)
      first.kill
      expect(got_or_created(store, 'of the second')).to eq('of the second')
      pair.cut
      pair.relaunch(first)
      eventually { got_or_created(store, 'of the first') == 'of the first' }
      pair.heal
      pair.settle
      expect(replicated['password']).to eq(kind == MirrorMode ? 'of the first' : 'of the second')
    end

    # A machine that is suspended when it has received a change, and continues after the writes were moved.
    it 'may have the older value win, if a stopped writer continues with a change after a newer one at the other' do
      each_store.first.put(key, document('old'))
      pair.settle
      thaw = Queue.new
      proxy = ChangeWatch.new(first.tcp_uri) { freeze_first(thaw) }
      # In another process, because the signal of a stopped child interrupts calls of this one.
      expect_success_of(child { outcome_unknown?('write_uri' => proxy.uri, 'operation_timeout_seconds' => 1) })
      pair.cut
      expect(each_store.last.put(key, document('acknowledged later'))).to be(true)
      thaw << true
      eventually { each_store.first.get(key) == document('of the stopped one') }
      pair.heal
      pair.settle
      # Changes of 389-DS that are less than a few seconds apart have any order.
      expect(replicated['password'])
        .to eq('of the stopped one').or eq(kind == MirrorMode ? 'of the stopped one' : 'acknowledged later')
    ensure
      thaw << true
      proxy&.stop
    end

    def outcome_unknown?(options)
      open_store(options).put(key, document('of the stopped one'))
    rescue Simpkv::TimeoutError => e
      e.message.include?('the outcome is unknown')
    end

    # @return [void] when the first server is stopped
    def freeze_first(thaw)
      frozen = Queue.new
      Thread.new do
        first.freeze_process do
          frozen << true
          thaw.pop
        end
      end
      frozen.pop
    end

    # OpenLDAP sends it only if the killed server takes another write before the other one has connected again: see
    # 'If a killed server has writes that the other one lacks' of the page.
    it 'has a write that only the killed server knew, once that server is back with its disk',
       unless: kind == MirrorMode do
      pair.cut
      each_store.first.put(key, document('kept'))
      first.kill
      pair.heal
      expect(each_store.last.get(key, required: false)).to be_nil
      pair.relaunch(first)
      pair.settle
      expect(replicated['password']).to eq('kept')
    end

    it 'has lost a write that only the killed server knew, if its disk is lost; it gets all else from the other one' do
      pair.cut
      each_store.first.put(key, document('lost'))
      first.kill
      first.lose_data unless kind == MirrorMode # whose database the page moves away
      pair.heal
      pair.recover(first)
      pair.settle
      expect(replicated).to eq('other' => 0)
      each_store.first.put(key, document('new'))
      pair.settle
      expect(replicated).to eq('other' => 0, 'password' => 'new')
    end

    # It was 0, because the last change of the first server was newer than all that it lacked. The new number stands for
    # a server that was killed before it had stored a number for the other one.
    it 'has an unknown lag at a server that has stored no change of the other one', if: kind == MirrorMode do
      pair.apart do
        number_second(3)
        each_store.last.put(key, document('not at the first'))
        each_store.first.put("#{folder}/later", document(1))
        found = status
        expect(lags(found).first).to eq([nil, ['003']])
        expect(found['alerts'].map { |alert| alert['text'] })
          .to include("The lag of the server #{first.tcp_uri} is unknown: #{first.tcp_uri} has stored no change of " \
                      'the server with the ID 003.')
      end
      expect(lags(status)).to eq([[0, nil]] * 2)
    ensure
      number_second(2)
    end

    def number_second(number)
      second.change("dn: cn=config\nchangetype: modify\nreplace: olcServerID\nolcServerID: #{number}\n")
    end

    # @return [Hash] what the command prints about the servers of the page's backend
    def status
      arguments = %w[-c - status --parts servers -o json]
      site = { 'backends' => { 'default' => backend } }.to_yaml
      JSON.parse(CommandSchemas.check(arguments, Command.run_here(arguments, site, {}, Dir.tmpdir)).out)
    end

    def lags(status)
      status.dig('servers', 'servers').map { |server| server.values_at('lag_seconds', 'lag_unseen') }
    end

    # What docs/backup.md says about a directory with several servers.
    it 'has the values of a backup that is restored on both servers while both are down, and replicates', :long do
      each_store.first.put(key, document('saved'))
      pair.settle
      file = nil
      down(first) { file = first.save }
      each_store.first.put(key, document('newer'))
      pair.settle
      down(first, second) { pair.each { |server| server.restore(file) } }
      pair.settle
      expect(replicated).to eq('other' => 0, 'password' => 'saved')
      %w[first second].zip(each_store).each do |value, store|
        store.put(key, document(value))
        pair.settle
        expect(replicated['password']).to eq(value)
      end
    end

    # Runs the block while servers are down.
    def down(*servers)
      servers.each(&:stop_serving)
      yield
      servers.each { |server| pair.relaunch(server) }
    end
  end
end
