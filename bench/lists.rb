# frozen_string_literal: true

require_relative 'support/contest'

# Lists of more and more keys. What the bare C loop does is a paged search, entry by entry; the adapter decodes as well.
LAYERS = ['bare C loop', 'C core', 'store', 'adapter'].freeze
COUNTS = SideBySide::QUICK ? [10, 1000] : [10, 1000, 10_000, 100_000]
BLOCKS = Hash.new(SideBySide::BLOCKS).merge(100_000 => 15).freeze

def add_bars(report, server, found)
  many = [10_000, COUNTS.last].min
  report.at_most("time of a list of #{many}, decoded / bare C paged search: #{server}", 1.6,
                 Report.ratio(found[many], 'bare C loop', 'adapter'))
  per_key = found.to_h { |count, rows| [count, Report.row(rows, 'adapter').median / count] }
  report.at_most("time a key in a list of #{COUNTS.last} / of 1000: #{server}", 1.3,
                 per_key[COUNTS.last] / per_key[1000])
end

report = Report.new('Lists')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    folders = COUNTS.to_h { |count| [count, contest.folder("list#{count}", keys: count)] }
    found = folders.to_h do |count, folder|
      title = "list of #{count} keys, #{contest.server_name}"
      [count, report.add(contest.run(title, 'list', LAYERS, folder, blocks: BLOCKS[count]))]
    end
    add_bars(report, contest.server_name, found)
    contest.versions
  end
end
report.print('lists', versions.inject(:merge))
