# frozen_string_literal: true

require_relative 'support/contest'

# Gets on a machine that has other things to do: beside them, processes that do nothing but keep processors busy. What
# waits awake (docs/adr/0011) must not come late there.
def beside(count)
  busy = Array.new(count) { spawn('sh', '-c', 'while :; do :; done') }
  yield
ensure
  busy&.each do |process|
    Process.kill('KILL', process)
    Process.wait(process)
  end
end

report = Report.new('Gets beside busy processes')
Contest.at(Contest::OpenLDAP) do |contest|
  folder = contest.folder('small')
  [0, 1, 2, 4].each do |busy|
    beside(busy) do
      report.add(contest.run("get beside #{busy} busy processes", 'get', ['bare C loop', 'C core', 'adapter'], folder))
    end
  end
  report.print('crowded', contest.versions)
end
