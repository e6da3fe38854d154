# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/catalogs'

# How much longer does a catalog take? Measures catalogs that puppetserver compiles, with no, 100 and 1,000 gets. Each
# belongs to an environment of its own.
CATALOGS = { 'catalog of none' => 0, 'catalog of 100 gets' => 100, 'catalog of 1,000 gets' => 1000 }.freeze
WARM = 90 # seconds, until Java has compiled the hot code

def compile(server, gets)
  notices = server.compile("gets#{gets}")
  expected = ["#{[gets, 1].min} values"]
  notices == expected ? notices : raise("the catalog of #{gets} gets has #{notices}, not #{expected}")
end

def measure(contest, folder, server)
  baseline = contest.contestant('bare C loop', 'get', folder)
  catalogs = CATALOGS.transform_values { |gets| -> { compile(server, gets) } }
  SideBySide.run('puppetserver', { 'bare C loop' => baseline, **catalogs },
                 equal: ->(_answer) {}, seconds: Contest::BLOCK_SECONDS, warm: WARM)
ensure
  baseline&.stop
end

report = Report.new('puppetserver')
Contest.at(Contest::OpenLDAP) do |contest|
  folder = CATALOGS.values.map { |gets| contest.folder('small', environment: "gets#{gets}") }.last
  Catalogs.of(contest, folder) do |catalogs|
    CATALOGS.each_value { |gets| catalogs.environment("gets#{gets}", gets) }
    catalogs.server.install_gem(Packages.file(Packages::GEMS[:java]))
    catalogs.server.start
    rows = report.add(measure(contest, folder, catalogs.server))
    bare, none, _, thousand = rows.map(&:median)
    report.at_most('puppetserver: 1,000 gets in a catalog / 1,000 bare C gets', 4.0,
                   (thousand - none) / (1000 * bare))
  end
  report.print('puppetserver', contest.versions.merge(Versions.of('JRuby', 'puppetserver')))
end
