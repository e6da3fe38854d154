# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/distance'

# How the cost of operations grows with the way to the server.
LAYERS = ['bare C loop', 'C core', 'adapter'].freeze
OPERATIONS = { 'get' => 'get', 'put_unchanged' => 'put unchanged', 'put_changed' => 'put changed',
               'put_new' => 'put new', 'delete' => 'delete' }.freeze

report = Report.new('Distance')
Contest.at(Contest::OpenLDAP) do |contest|
  folder = contest.folder('small')
  thousand = contest.folder('thousand', keys: SideBySide::QUICK ? 100 : 1000)
  [0, 0.25, 0.5, 1, 2].each do |milliseconds|
    Distance.before(contest.server, milliseconds) do |uri|
      OPERATIONS.each do |operation, title|
        report.add(contest.run("#{title} at #{milliseconds} ms", operation, LAYERS, folder, uri: uri))
      end
      report.add(contest.run("get in flight at #{milliseconds} ms", 'get', ['bare C loop', 'bare C loop, 16 in flight'],
                             folder, uri: uri))
      report.add(contest.run("get on 8 threads at #{milliseconds} ms", 'get', LAYERS, folder, uri: uri, threads: 8))
      report.add(contest.run("list of 1,000 keys at #{milliseconds} ms", 'list', LAYERS, thousand, uri: uri))
    end
  end
  report.print('distance', contest.versions)
end
