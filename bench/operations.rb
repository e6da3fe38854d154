# frozen_string_literal: true

require_relative 'support/contest'

# Each operation at each layer, on both servers; beside it the floor: what a bare loop over libldap takes for a search,
# or for the write.
LAYERS = ['bare C loop', 'C core', 'store', 'store, FFI', 'adapter', 'function'].freeze
WRITES = { 'put_changed' => 'put changed', 'put_new' => 'put new', 'delete' => 'delete' }.freeze

def gets(contest, report, folder)
  server = contest.server
  { 'ldapi' => server.uri, 'ldap' => server.tcp_uri, 'ldaps' => server.tls_uri }.each do |how, uri|
    title = "get, #{contest.server_name}, #{how}"
    rows = report.add(contest.run(title, 'get', LAYERS, folder, uri: uri))
    next if how == 'ldaps'

    report.at_least("C core / bare C loop: #{title}", 1.0, Report.ratio(rows, 'C core', 'bare C loop'))
    report.at_least("adapter on MRI / bare C loop: #{title}", 0.85, Report.ratio(rows, 'adapter', 'bare C loop'))
  end
  report.add(contest.run("get of one key, #{contest.server_name}", 'get', LAYERS, folder, keys: 1))
  # Alone: 389-DS is slow to answer whoever comes after a client with many in flight.
  report.add(contest.run("get, #{contest.server_name}, in flight", 'get', ['bare C loop', 'bare C loop, 16 in flight'],
                         folder))
end

def others(contest, report, folder)
  report.add(contest.run("exists, #{contest.server_name}", 'exists', LAYERS, folder))
  rows = report.add(contest.run("put unchanged, #{contest.server_name}", 'put_unchanged', LAYERS, folder))
  ['C core', 'adapter'].each do |layer|
    report.at_least("put unchanged / bare C get: #{layer}, #{contest.server_name}", 0.8,
                    Report.ratio(rows, layer, 'bare C loop'))
  end
  WRITES.each do |operation, title|
    report.add(contest.run("#{title}, #{contest.server_name}", operation, LAYERS, folder))
  end
end

def jruby(contest, report, folder)
  { 'get' => 'get', 'put_unchanged' => 'put unchanged' }.each do |operation, title|
    names = ['bare C loop', *%w[store adapter function].map { |layer| "#{layer}, JRuby" }]
    rows = report.add(contest.run("#{title}, #{contest.server_name}, JRuby", operation, names, folder))
    next unless operation == 'get'

    report.at_least('adapter get on JRuby / bare C loop', 0.75, Report.ratio(rows, 'adapter, JRuby', 'bare C loop'))
  end
end

report = Report.new('Operations at each layer')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    folder = contest.folder('small')
    gets(contest, report, folder)
    others(contest, report, folder)
    # It takes long to start, and is among the threads as well.
    jruby(contest, report, folder) if server == Contest::OpenLDAP && !SideBySide::QUICK
    contest.versions
  end
end
report.print('operations', versions.inject(:merge).merge(Versions.of('JRuby')))
