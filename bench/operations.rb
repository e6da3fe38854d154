# frozen_string_literal: true

require 'json'
require 'tmpdir'
require_relative 'support/contest'

# How fast is one operation? Measures each operation at each layer, on both servers, beside a bare loop over libldap
# that makes one search or write. Functions run in OpenVox 8, and in Debian's Puppet 7. Then compares a get with other
# clients for LDAP, the file store with File.read, and the codec with JSON.parse on a large value.
LAYERS = ['bare C loop', 'C core', 'store', 'store, FFI', 'adapter', 'function', 'function, Puppet 7'].freeze
WRITES = { 'put_changed' => 'put changed', 'put_new' => 'put new', 'delete' => 'delete' }.freeze

# The adapter decodes documents. The gems return them as text.
CLIENTS = ['adapter', 'ruby-ldap', 'net-ldap', 'ldapsearch, a process a call'].freeze

def gets(contest, report, folder)
  server = contest.server
  { 'ldapi' => server.uri, 'ldap' => server.tcp_uri, 'ldaps' => server.tls_uri }.each do |scheme, uri|
    title = "get, #{contest.server_name}, #{scheme}"
    rows = report.add(contest.run(title, 'get', LAYERS, folder, uri: uri))
    add_targets(report, title, rows) if scheme == 'ldap'
  end
  report.add(contest.run("get of one key, #{contest.server_name}", 'get', LAYERS, folder, keys: 1))
  # A case of its own: 389-DS is slow for a client that follows one with many requests in flight.
  report.add(contest.run("get, #{contest.server_name}, in flight", 'get', ['bare C loop', 'bare C loop, 16 in flight'],
                         folder))
end

def add_targets(report, title, rows)
  { 'function' => 2.0, 'function, Puppet 7' => 2.5 }.each do |name, target|
    report.at_most("processor time of the #{name} / bare C loop: #{title}", target,
                   Report.processor_ratio(rows, name, 'bare C loop'))
  end
  report.at_most("processor time of the store / bare C loop: #{title}", 1.2,
                 Report.processor_ratio(rows, 'store', 'bare C loop'))
  report.at_least("speed of the function / bare C loop: #{title}", 0.68, Report.ratio(rows, 'function', 'bare C loop'))
end

def others(contest, report, folder)
  report.add(contest.run("exists, #{contest.server_name}", 'exists', LAYERS, folder))
  report.add(contest.run("put unchanged, #{contest.server_name}", 'put_unchanged', LAYERS, folder))
  WRITES.each do |operation, title|
    report.add(contest.run("#{title}, #{contest.server_name}", operation, LAYERS, folder))
  end
end

def jruby(contest, report, folder)
  { 'get' => 'get', 'put_unchanged' => 'put unchanged' }.each do |operation, title|
    names = ['bare C loop', *%w[store adapter function].map { |layer| "#{layer}, JRuby" }]
    report.add(contest.run("#{title}, #{contest.server_name}, JRuby", operation, names, folder))
  end
end

# The gems support TCP only.
def clients(contest, report, folder)
  title = "get by other clients, #{contest.server_name}, ldap"
  report.add(contest.run(title, 'get', CLIENTS, folder, uri: contest.server.tcp_uri))
end

# The scripts neither lock, nor check the path, nor sync.
def files(report)
  Dir.mktmpdir do |folder|
    store = Simpkv::Store.open('file', 'root_path' => folder)
    key = 'environments/production/app1/key'
    file = File.join(folder, key)
    document = Simpkv::Codec.encode({ 'password' => 'Xu8#kq!0' }, 'owner' => 'ops')
    store.put(key, document)
    report.add(SideBySide.run('get, files, decoded',
                              { 'File.read + JSON.parse' => -> { JSON.parse(File.read(file))['value'] },
                                'store + codec' => -> { Simpkv::Codec.decode(store.get(key))[:value] } }))
    report.add(SideBySide.run('put unchanged, files', { 'File.read and compare' => -> { File.read(file) == document },
                                                        'store' => -> { !store.put(key, document) } }))
  end
end

def large(report)
  document = Simpkv::Codec.encode((1..10_000).to_h { |number| ["member#{number}", number] })
  report.add(SideBySide.run('10,000 members, decoded', { 'JSON.parse' => -> { JSON.parse(document)['value'] },
                                                         'codec' => -> { Simpkv::Codec.decode(document)[:value] } }))
end

report = Report.new('Operations')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    folder = contest.folder('small')
    gets(contest, report, folder)
    others(contest, report, folder)
    clients(contest, report, folder)
    # JRuby takes long to start. bench/contention.rb has it with several threads, on both servers.
    jruby(contest, report, folder) if server == Contest::OpenLDAP && !SideBySide::QUICK
    contest.versions
  end
end
files(report)
large(report)
report.print('operations',
             versions.inject(:merge).merge(Versions.of('JRuby', 'ruby-ldap', 'net-ldap', 'ldap-utils')))
