# frozen_string_literal: true

require 'json'
require_relative '../support/file_store'
require_relative '../support/slapd'

# Only the extension for MRI handles objects of Ruby in C.
RSpec.describe 'Memory', :thorough, needs: :cext do
  native = Simpkv::Native
  # This document has more members and elements than are put into a Hash or an Array at once, and takes every path that
  # makes a String.
  document = { 'value' => (1..20).to_h { |i| ["k#{i}é\n", i] },
               'metadata' => { 'a' => ["\n" * 300, 'é', 1.5, 2**70], 'b' => (1..40).map(&:to_s) } }

  # Runs the block while each allocation collects garbage and, with `compacting`, moves the other objects.
  def under_stress(compacting)
    before = GC.auto_compact if compacting
    GC.auto_compact = true if compacting
    GC.stress = true
    yield
  ensure
    GC.stress = false
    GC.auto_compact = before if compacting
  end

  def raised
    yield
  rescue Simpkv::Error => e
    e.message
  end

  { 'collected' => false, **(GC.respond_to?(:auto_compact=) ? { 'compacted' => true } : {}) }.each do |what, compacting|
    describe "that is #{what} at every allocation" do
      include FileStoreHelp

      # A compaction collects as well.
      repeated = { long: !compacting && GC.respond_to?(:auto_compact=) }

      it 'leaves documents intact that are written and read' do
        some = compacting ? { 'value' => { 'a' => ['é', "\n", 1.5, 2**70] } } : document
        found = under_stress(compacting) { native.parse(native.generate(some)) }
        expect(found).to eq(JSON.parse(JSON.generate(some)))
      end

      # @return [Array] the result of each operation
      def use(store)
        [store.put('globals/f/k', '{"value":1}'), store.get('globals/f/k'), store.list('globals/f'),
         store.tree('', values: false), store.exist?('globals/f'),
         raised { store.put('globals/f/k', '{}', condition: :absent) }, raised { store.get('globals/n') },
         store.delete('globals/f/k'), store.deletetree('globals')]
      end

      it 'leaves the calls of a store intact', **repeated do
        usual = use(store)
        moved = GC.stat[:compact_count]
        expect(under_stress(compacting) { use(store) }).to eq(usual)
        expect(GC.stat[:compact_count]).to be > moved if compacting
      end

      # @return [Array] the result of each operation on entries
      def use_entries(store, base)
        dn = "ou=ä,#{base}"
        [store.add_entry(dn, 'objectClass' => %w[top organizationalUnit], 'ou' => ['ä'], 'l' => ['x' * 300]),
         store.modify_entry(dn, [[:replace, 'l', %w[a ö]], [:add, 'description', ['b']]]),
         store.modify_entry(dn, [[:delete, 'l', ['c']]]), store.read_entry(dn, %w[l description]),
         store.entries(base, %w[ou]), raised { store.read_entry("ou=n,#{base}", []) },
         store.set_entry_password(dn, 'hush'), store.password?(dn, 'hush'), store.delete_entry(dn)]
      end

      it 'leaves the calls on entries intact', **repeated do
        Slapd.run do |server|
          store = Simpkv::Store.open('ldap', server.options('admin_dn' => Slapd::ROOT_DN))
          usual = use_entries(store, DirectoryServer::BASE_DN)
          expect(under_stress(compacting) { use_entries(store, DirectoryServer::BASE_DN) }).to eq(usual)
        ensure
          store&.close
        end
      end

      # @return [Array] the result of each use of rules
      def use_rules
        rules = Simpkv::Native::Rules.new(<<~RULES)
          {"rules":[{"conditions":[{"op":"matches","args":["{node.a[0]}","é|x"]}],
                     "actions":[{"op":"set-attribute","args":["/parameters/p","{inventory}"]}]}]}
        RULES
        [rules.inspect_node('{"node":{"a":["é"]},"phases":["main"],"inventory":{"password":1}}'),
         raised { Simpkv::Native::Rules.new('{}') }, raised { rules.inspect_node('[]') }]
      end

      it 'leaves the calls of rules intact' do
        usual = use_rules
        expect(under_stress(compacting) { use_rules }).to eq(usual)
      end
    end
  end

  def resident
    GC.start
    File.read('/proc/self/statm').split[1].to_i * 4096
  end

  it 'is freed with the rules of threads that initialize one object at once, but of the first one' do
    json = JSON.generate('rules' => Array.new(1000) { { 'actions' => [{ 'op' => 'log', 'args' => ['x' * 5_000] }] } })
    initialize_at_once = lambda do |_round|
      object = native::Rules.allocate
      threads = Array.new(4) { Thread.new { raised { object.__send__(:initialize, json) } } }
      threads.each(&:value)
    end
    10.times(&initialize_at_once)
    before = resident
    20.times(&initialize_at_once)
    # A leak took 500 MB. Each thread has a heap of its own, whose free memory counts, too.
    expect(resident - before).to be < 250_000_000
  end

  it 'is freed when a document is refused' do
    refused = ['x' * 1_000_000, Object.new]
    refuse = ->(times) { times.times { expect { native.generate(refused) }.to raise_error(Simpkv::UnencodableError) } }

    # The first calls fill the memory that a sanitizer sets aside.
    refuse.call(300)
    before = resident
    refuse.call(300)
    # A leak would take 300 MB.
    expect(resident - before).to be < 150_000_000
  end
end
