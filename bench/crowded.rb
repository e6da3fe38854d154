# frozen_string_literal: true

require_relative 'support/contest'

# Gets on a machine that has other things to do: beside them, processes that do nothing but keep processors busy, in a
# session of their own, which Linux schedules apart, or not. What waits awake (docs/adr/0011) must not lose by it there.
BAR = 0.9

def beside(count, apart)
  busy = Array.new(count) { spawn(*(['setsid'] if apart), 'sh', '-c', 'while :; do :; done') }
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
  [[0, false], [1, false], [2, false], [4, false], [2, true], [4, true]].each do |busy, apart|
    title = "get beside #{busy} busy processes#{' of another session' if apart}"
    rows = beside(busy, apart) { contest.run(title, 'get', ['bare C loop', 'C core', 'adapter'], folder) }
    report.at_least("C core / bare C loop: #{title}", BAR, Report.ratio(report.add(rows), 'C core', 'bare C loop'))
  end
  report.print('crowded', contest.versions)
end
