# frozen_string_literal: true

# The compilers of bin/demo ha: two threads read keys, and two store new ones, until the file STOP exists. They read the
# configuration again for each call, as catalogs do. The file STOP.began says that they work. Then compares what was
# acknowledged with what each server has.
#
#   ruby load.rb SIMPKV_YAML STOP SERVER_URI...

require 'json'
require 'simpkv'
require 'simpkv/backend'
require 'yaml'

configuration, stop, *servers = ARGV
counts = Hash.new(0)
stored = {}
lock = Mutex.new

options = -> { YAML.safe_load(File.read(configuration)) }
count = ->(what) { lock.synchronize { counts[what] += 1 } }

open_at = lambda do |site|
  settings = Simpkv::Config.typed(site['backends']['default'], 'default')
  Simpkv::LdapAccess.open(settings)
end

# Opens a store, as each catalog does. Connections outlive it.
catalog = lambda do |kind, &work|
  store = open_at.call(options.call)
  work.call(store)
  count.call("#{kind} done")
rescue Simpkv::Error
  count.call("#{kind} failed")
ensure
  store&.close
end

reading = -> { catalog.call('reads') { |store| store.get('environments/production/app1/url') } }
writing = lambda do |thread, number|
  key = "environments/production/load/w#{thread}-#{number}"
  document = JSON.generate('value' => number)
  catalog.call('writes') do |store|
    store.put(key, document)
    lock.synchronize { stored[key] = document }
    File.write("#{stop}.began", '') if number == 10
  end
end

run = lambda do |&work|
  number = 0
  until File.exist?(stop)
    work.call(number += 1)
    sleep 0.1
  end
end

threads = Array.new(2) { Thread.new { run.call { reading.call } } } +
          Array.new(2) { |thread| Thread.new { run.call { |number| writing.call(thread, number) } } }
threads.each(&:join)

puts "reads:  #{counts['reads done']}, failed: #{counts['reads failed']}"
puts "writes: #{counts['writes done']}, failed while no server took writes: #{counts['writes failed']}"
missing = lambda do |uri|
  site = options.call
  site['backends']['default'].merge!('ldap_uri' => uri, 'write_uri' => uri)
  store = open_at.call(site)
  there = store.get_many(stored.keys)
  stored.count { |key, document| there[key] != document }.tap { store.close }
end
# The last writes may be on their way.
lost = nil
240.times do
  lost = servers.map(&missing)
  break if lost.sum.zero?

  sleep 0.25
end
puts "of the writes that succeeded, ldap1 lacks #{lost.first}, and ldap2 lacks #{lost.last}"
exit(counts['reads failed'].zero? && counts['writes failed'].positive? && lost.sum.zero? ? 0 : 70)
