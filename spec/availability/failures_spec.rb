# frozen_string_literal: true

require 'timeout'
require_relative 'availability_helper'

# The table of docs/high-availability.md. Each example fails a server, or the network, while catalogs are compiled.
Pairs.each do |name, kind, tags|
  RSpec.describe "A pair of #{name}, with write_uri naming one server,", **tags do
    include_context 'with a pair', kind
    include_context 'with compilers'

    after { @watch&.kill&.join }

    # Watches the keys of the catalogs, at the writer as long as it lives.
    #
    # @return [Queue] the changes, each as its kind and its key
    def watch(store = open_store)
      @watch&.kill&.join
      told = Queue.new
      @watch = Thread.new { store.watch('environments/production') { |change| told << [change.kind, change.key] } }
      told.pop
      told
    end

    # Expects that the watch tells no deletion before it tells this change, which is made now.
    def expect_no_deletion(told, *change)
      told_now = []
      pop = -> { Timeout.timeout(120) { told.pop } }
      told_now << pop.call until told_now.flatten.include?(:delete) || (change - told_now.last.to_a).empty?
      expect(told_now.map(&:first)).not_to include(:delete)
    end

    # Kills the second server with a key that the first one lacks. Meanwhile, a key is deleted at the first one.
    def kill_ahead
      gone = replicated.keys.first
      pair.apart do
        put_and_kill
        each_store.first.delete("environments/production/#{gone}")
        copy_unsent if pair.is_a?(MirrorMode)
        pair.relaunch(second)
      end
      expect(replicated).to include('ahead' => 1)
      expect(replicated).not_to include(gone)
    end

    # A watch of its own is at the second server: the one before may have gone back to the first.
    def put_and_kill
      told = watch(open_store('ldap_uri' => [second.tcp_uri, first.tcp_uri]))
      each_store.last.put('environments/production/ahead', document(1))
      expect_no_deletion(told, :put, 'ahead')
      second.kill
      expect_no_deletion(told, :resync)
    end

    # The steps of the page. It said to start the killed server first, which can delete keys that only that server has.
    def copy_unsent
      last, *steps = ServerPair::PAGE.blocks('If a killed server has writes that the other one lacks', 'sh')
      since = Page.shell(first.offline(last.sub('#001#', '#002#')))[/contextCSN: (.*)/, 1]
      steps = second.offline(steps.join).gsub('id: site', "id: #{id}").gsub('/etc/simpkv/password', first.password_file)
      Page.shell("trap 'kill \"$(cat slapd.pid)\" || true' EXIT\n#{steps}",
                 'SINCE' => since, 'FOLDER' => File.join(folder, 'killed'), 'WRITER' => first.tcp_uri)
    end

    it 'loses no catalog that reads, and no value, when the writer is killed and an operator moves writes and back' do
      compile
      told = watch
      first.kill
      compilers.wait(reading: 8, writing: 2)
      expect(compilers.errors(:writing)).to be_any.and all(include("#{first.tcp_uri}: connection refused"))
      compilers.configure(:writing, backend('write_uri' => second.tcp_uri))
      compilers.wait(writing: 8, good: true)
      expect(Array.new(told.length) { told.pop.first }).not_to include(:delete)
      expect_no_deletion(told, :put)
      pair.relaunch(first)
      pair.settle
      compilers.errors(:writing)
      move_back
      compilers.wait(writing: 5, good: true)
      expect_nothing_lost
      kill_ahead
    end

    # Runs the commands of the page until they succeed: keys are written meanwhile.
    def compare
      site = File.join(folder, 'simpkv.yaml')
      File.write(site, { 'backends' => { 'default' => backend('write_uri' => second.tcp_uri) } }.to_yaml)
      commands, = ServerPair::PAGE.blocks('How to move writes back', 'sh')
      eventually(errors: RuntimeError, within: 60) { Page.shell(commands, 'SIMPKV_CONFIG' => site) }
    end

    # The steps of the page.
    def move_back
      compare
      pair.read_only(second, true)
      compilers.wait(writing: 2)
      replicated
      compilers.configure(:writing, backend)
      compilers.wait(writing: 2, good: true)
      pair.read_only(second, false)
      expect(compilers.errors(:writing)).to be_any.and all(include('read-only'))
      pair.settle
    end

    it 'loses nothing when the other server is killed: catalogs read and write as before' do
      compile
      second.kill
      compilers.wait(reading: 8, writing: 8)
      pair.relaunch(second)
      pair.settle
      expect(compilers.errors(:writing)).to eq([])
      expect_nothing_lost
    end

    it 'loses nothing while the other server is stopped' do
      compile('operation_timeout_seconds' => 6)
      second.freeze_process { compilers.wait(reading: 4, writing: 8) }
      expect(compilers.errors(:writing)).to eq([])
      expect_nothing_lost
    end

    it 'fails writes, and no catalog that reads, while the writer is stopped' do
      compile('operation_timeout_seconds' => 6)
      first.freeze_process { compilers.wait(reading: 4, writing: 1) }
      expect(compilers.errors(:writing)).to be_any.and all(match(/timed out|no answer in time|moment ago|tried again/))
      compilers.wait(writing: 5, good: true)
      expect_nothing_lost
    end

    it 'reads older values at the other server while the two are cut off from each other, and loses nothing' do
      compile
      pair.apart do
        each_store.first.put('environments/production/late', document('new'))
        compilers.wait(reading: 8, writing: 8)
        expect(each_store.last.get('environments/production/late', required: false)).to be_nil
      end
      expect(compilers.errors(:writing)).to eq([])
      expect_nothing_lost
      expect(replicated['late']).to eq('new')
    end

    it 'fails only the writes of a compiler that is cut off from the writer' do
      compile
      network = CuttableProxy.new(first.tcp_uri)
      cut_off = open_store('ldap_uri' => [network.uri, second.tcp_uri], 'write_uri' => network.uri)
      cut_off.get('environments/production/app/url')
      network.cut
      expect { cut_off.put('environments/production/k', document(1)) }
        .to raise_error(Simpkv::UnavailableError, /#{network.uri}/)
      expect(cut_off.get('environments/production/app/url')).to eq(document('http://app'))
      expect(compilers.errors(:writing)).to eq([])
      expect_nothing_lost
    ensure
      network&.stop
    end
  end
end
