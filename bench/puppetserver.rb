# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/catalogs'

# Catalogs that puppetserver compiles, with 1,000 gets and with none.
GETS = 1000
WARM = 90 # seconds, until Java has compiled what is worth it

def compile(server, environment, title)
  found = server.compile(environment)
  found == [title] ? found : raise("the catalog of #{environment} has #{found}, not #{title}")
end

def measure(contest, folder, server)
  floor = contest.contestant('bare C loop', 'get', folder)
  contestants = { 'bare C loop' => floor,
                  'catalog of none' => -> { compile(server, 'none', '0 values') },
                  'catalog of 1,000 gets' => -> { compile(server, 'production', '1 values') } }
  SideBySide.run('puppetserver', contestants, equal: ->(_answer) {}, seconds: Contest::BLOCK_SECONDS, warm: WARM)
ensure
  floor&.stop
end

report = Report.new('puppetserver')
Contest.at(Contest::OpenLDAP) do |contest|
  folder = contest.folder('small')
  Catalogs.of(contest, folder) do |catalogs|
    catalogs.environment('production', GETS)
    catalogs.environment('none', 0)
    catalogs.server.install_gem(Packages.file(Packages::GEMS[:java]))
    catalogs.server.start
    rows = report.add(measure(contest, folder, catalogs.server))
    none, gets, floor = ['catalog of none', 'catalog of 1,000 gets', 'bare C loop'].map do |name|
      Report.row(rows, name).median
    end
    report.at_most('puppetserver: 1,000 gets in a catalog / 1,000 bare C gets', 4.0, (gets - none) / (GETS * floor))
  end
  report.print('puppetserver', contest.versions.merge(Versions.of('JRuby', 'puppetserver')))
end
