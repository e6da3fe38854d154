# frozen_string_literal: true

# A program: lists the folder ARGV[1] of the LDAP store with the options ARGV[0], in JSON. Prints how many bytes the
# names and documents have, and by how many the process, which is a new one, grew at most. With `drop` as the next
# argument it keeps none of the pages: that needs SIMPKV_NATIVE=ffi, which gives access to pages.
require 'json'
require 'simpkv'

options, folder, drop = ARGV
store = Simpkv::Store.open('ldap', JSON.parse(options))
listed = 0
if drop
  store.instance_variable_get(:@native).define_singleton_method(:unpack) do |page, _found|
    listed += page.bytesize
    page.clear
  end
end
memory = ->(name) { File.read('/proc/self/status')[/^#{name}:\s+(\d+) kB/, 1].to_i * 1024 }

store.kind(folder)
# From here on the peak is counted.
File.write('/proc/self/clear_refs', '5')
before = memory.call('VmRSS')
keys = store.list(folder)[:keys]
growth = memory.call('VmHWM') - before

listed += keys.sum { |name, document| name.bytesize + document.bytesize }
puts JSON.generate('listed' => listed, 'growth' => growth)
