# frozen_string_literal: true

require_relative 'support/contest'

# How large a server do keys need? Measures the room that keys take on the disk of a directory server, and in the memory
# of its process, with its caches.
VALUES = { '40 B' => 'a' * 40, '1 KB' => 'a' * 1024 }.freeze
KEYS = SideBySide::QUICK ? 1000 : 100_000

# @return [Array(Integer, Integer)] bytes on disk and bytes resident
def room(contest)
  disk = Dir.glob("#{contest.data}/**/*").select { |file| File.file?(file) }.sum { |file| File.stat(file).blocks * 512 }
  [disk, File.read("/proc/#{contest.server.pid}/status")[/VmRSS:\s*(\d+)/, 1].to_i * 1024]
end

report = Report.new('Sizing')
report.note('| server | value | keys | bytes a key on disk | bytes a key in the process |', '|---|---|---:|---:|---:|')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  VALUES.map do |size, value|
    Contest.at(server) do |contest|
      before = room(contest)
      contest.folder('room', keys: KEYS, values: [value, value])
      disk, resident = room(contest).zip(before).map { |after, empty| (after - empty) / KEYS }
      report.note("| #{contest.server_name} | #{size} | #{KEYS} | #{disk} | #{resident} |")
      contest.versions
    end
  end
end
report.print('sizing', versions.flatten.inject(:merge))
