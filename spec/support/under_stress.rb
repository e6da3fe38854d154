# frozen_string_literal: true

# Makes calls of the library as usual, and again while each allocation collects garbage. Prints both results, and how
# often garbage was collected and objects were moved, as JSON. In the process of RSpec, which has many objects, each
# collection takes much longer.
#
#   ruby spec/support/under_stress.rb USE collected|compacted OPTIONS
#
# USE:: documents, store, entries or rules
# compacted:: each collection also moves the other objects
# OPTIONS:: of the store, as JSON

require 'json'
# Documents and rules need the binding only. With more code loaded, Ruby 3.1 crashes now and then when it has compacted:
# its own rb_vm_mark() meets a freed object in a table of the VM (by the backtrace, probably overloaded_cme_table).
if %w[documents rules].include?(ARGV.first)
  require 'simpkv/errors'
  require 'simpkv/native/cext'
else
  require 'simpkv'
end

# The uses, each of which returns the result of each call.
class UnderStress
  # This document has more members and elements than are put into a Hash or an Array at once, and takes every path that
  # makes a String.
  DOCUMENT = { 'value' => (1..20).to_h { |i| ["k#{i}é\n", i] },
               'metadata' => { 'a' => ["\n" * 300, 'é', 1.5, 2**70], 'b' => (1..40).map(&:to_s) } }.freeze
  RULES = <<~RULES
    {"rules":[{"conditions":[{"op":"matches","args":["{node.a[0]}","é|x"]}],
               "actions":[{"op":"set-attribute","args":["/parameters/p","{inventory}"]}]}]}
  RULES
  private_constant :DOCUMENT, :RULES

  def initialize(options)
    @options = options
  end

  # Calls the block while each allocation collects garbage.
  def self.collecting(compacting)
    GC.auto_compact = true if compacting
    GC.stress = true
    yield
  ensure
    GC.stress = false
  end

  # @return [Array] the document after a round trip
  def documents
    [Simpkv::Native.parse(Simpkv::Native.generate(DOCUMENT)), DOCUMENT].uniq
  end

  def store
    store = @store ||= Simpkv::Store.open('file', @options)
    [store.put('globals/f/k', '{"value":1}'), store.get('globals/f/k'), store.list('globals/f'),
     store.tree('', values: false), store.exist?('globals/f'),
     raised { store.put('globals/f/k', '{}', condition: :absent) }, raised { store.get('globals/n') },
     store.delete('globals/f/k'), store.deletetree('globals')]
  end

  def entries
    entries = (@store ||= Simpkv::Store.open('ldap', @options)).directory
    base = @options['base_dn']
    dn = "ou=ä,#{base}"
    [entries.add_entry(dn, 'objectClass' => %w[top organizationalUnit], 'ou' => ['ä'], 'l' => ['x' * 300]),
     entries.modify_entry(dn, [[:replace, 'l', %w[a ö]], [:add, 'description', ['b']]]),
     entries.modify_entry(dn, [[:delete, 'l', ['c']]]), entries.read_entry(dn, %w[l description]),
     entries.entries(base, %w[ou]), raised { entries.read_entry("ou=n,#{base}", []) },
     entries.set_entry_password(dn, 'hush'), entries.password?(dn, 'hush'), entries.delete_entry(dn)]
  end

  def rules
    rules = Simpkv::Native::Rules.new(RULES)
    [rules.inspect_node('{"node":{"a":["é"]},"phases":["main"],"inventory":{"password":1}}'),
     raised { Simpkv::Native::Rules.new('{}') }, raised { rules.inspect_node('[]') }]
  end

  private

  def raised
    yield
  rescue Simpkv::Error => e
    e.message
  end
end

use, what, options = ARGV
calls = UnderStress.new(JSON.parse(options))
# The first call loads files, which takes seconds while each allocation collects garbage.
usual = calls.public_send(use)
before = GC.count
stressed = UnderStress.collecting(what == 'compacted') { calls.public_send(use) }
puts JSON.generate('usual' => usual.map(&:inspect), 'stressed' => stressed.map(&:inspect),
                   'collections' => GC.count - before, 'moves' => GC.stat[:compact_count])
