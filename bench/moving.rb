# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/distance'
require_relative 'support/site'

# Moving keys by `simpkv copy`, beside `ldapadd` of the same entries, and a whole site to a directory and back, killed
# twice on the way. The copy reads the files, keeps a journal, and reads both sides again at the end.
KEYS = SideBySide::QUICK ? 200 : 20_000
FEW = SideBySide::QUICK ? 200 : 2_000
ALL = SideBySide::QUICK ? 2_000 : 100_000
BLOCKS = SideBySide::QUICK ? 1 : 3

report = Report.new('Moving keys')
versions = nil
[[Contest::OpenLDAP, 'slapd that does not sync', KEYS], [Contest::SyncedOpenLDAP, 'slapd', FEW],
 [Contest::DS389, '389-DS', FEW]].each do |type, name, keys|
  Contest.at(type) do |contest|
    versions ||= contest.versions
    compare = lambda do |title, count, uri, bar|
      Site.at(contest.server, count, uri) do |site|
        rows = report.add(SideBySide.run(title, site.contestants, seconds: nil, blocks: BLOCKS))
        report.at_least("#{title}: time of ldapadd / simpkv copy", bar, Report.ratio(rows, 'simpkv copy', 'ldapadd'))
      end
    end
    compare.call("#{keys} keys to #{name}", keys, contest.server.tcp_uri, 1)
    Distance.before(contest.server, 1) { |uri| compare.call("#{FEW} keys to #{name} at 1 ms", FEW, uri, 10) }
    Site.at(contest.server, ALL, contest.server.tcp_uri) { |site| report.note(*site.there_and_back(name), '') }
  end
end
report.print('moving', versions)
