# frozen_string_literal: true

require 'tempfile'
require_relative 'support/contest'

# Where the time of all processors goes while a contestant gets keys, or deletes them: by process, in the kernel or not.
# Needs perf, and a machine that does nothing else.
SECONDS = SideBySide::QUICK ? 1 : 5
ALONE = ['bare C loop', 'C core', 'adapter'].freeze
PARTS = ['server, user', 'server, kernel', 'contestant, user', 'contestant, kernel', 'nobody', 'others'].freeze

# Samples all processors while the block runs again and again.
#
# @return [Hash{Array(String, Symbol) => Integer}] samples by process, :kernel or :user
def sample
  Tempfile.create('perf') do |file|
    command = %W[perf record --quiet --all-cpus --event cpu-clock --freq 999 --output #{file.path} -- sleep #{SECONDS}]
    pid = Process.spawn(*command, %i[out err] => File::NULL)
    yield until Process.wait(pid, Process::WNOHANG)
    lines = IO.popen(['perf', 'script', '--input', file.path, '--fields', 'comm,ip'], err: File::NULL, &:readlines)
    # Addresses of the kernel are those of the upper half.
    lines.map { |line| line.match(/\A\s*(.+?)\s+(\h+)\s*\z/).captures }
         .map { |name, address| [name, address.to_i(16) >> 63 == 1 ? :kernel : :user] }.tally
  end
end

def part_of(name, where)
  case name
  when 'swapper' then 'nobody'
  when /slapd/ then "server, #{where}"
  when /ruby|core|floor/ then "contestant, #{where}"
  else 'others'
  end
end

def row(title, samples)
  parts = samples.group_by { |(name, where), _| part_of(name, where) }
  shares = PARTS.map { |part| parts.fetch(part, []).sum(&:last) * 100.0 / samples.values.sum }
  "| #{title} | #{shares.map { |share| format('%.0f %%', share) }.join(' | ')} |"
end

def profile(report, contest, folder, name, threads)
  title = "get, #{name}, threads: #{threads}, #{contest.server_name}"
  contestant = contest.contestant(name, 'get', folder, threads: threads)
  contestant.answer
  samples = sample { contestant.time(2000) }
  report.note(row(title, samples))
  warn "  #{title}"
ensure
  contestant&.stop
end

report = Report.new('Profile')
report.note("| case | #{PARTS.join(' | ')} |", "|---|#{'---:|' * PARTS.length}")
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    folder = contest.folder('small')
    ALONE.product([1, 8]).each { |name, threads| profile(report, contest, folder, name, threads) }
    contest.versions
  end
end
report.print('profile', versions.inject(:merge).merge('perf' => `perf --version`[/[\d.]+/]))
