# frozen_string_literal: true

require_relative 'support/contest'

# How fast is a get on a busy machine? Measures gets beside processes that keep the processors busy, in the same session
# or in one of their own, which Linux schedules separately. Then measures gets on several threads: each thread of the
# bare C loop has a connection of its own, those of simpkv share a pool, and one operation is one get on each thread.
BUSY = [[0, false], [1, false], [2, false], [4, false], [2, true], [4, true]].freeze
THREADS = SideBySide::QUICK ? [8] : [1, 2, 4, 8]

def beside(count, own_session)
  busy = Array.new(count) { spawn(*(['setsid'] if own_session), 'sh', '-c', 'while :; do :; done') }
  yield
ensure
  busy&.each do |process|
    Process.kill('KILL', process)
    Process.wait(process)
  end
end

def busy_processes(contest, report, folder)
  BUSY.each do |count, own_session|
    title = "get beside #{count} busy processes#{' of another session' if own_session}"
    rows = beside(count, own_session) { contest.run(title, 'get', ['bare C loop', 'C core', 'adapter'], folder) }
    report.at_least("adapter / bare C loop: #{title}", 0.75, Report.ratio(report.add(rows), 'adapter', 'bare C loop'))
  end
end

def threads(contest, report, folder)
  THREADS.each do |count|
    title = "get on #{count} threads, #{contest.server_name}"
    rows = report.add(contest.run(title, 'get', ['bare C loop', 'C core', 'store', 'adapter'], folder, threads: count))
    next if count < 8

    report.at_least("adapter / bare C loop: #{title}", 0.9, Report.ratio(rows, 'adapter', 'bare C loop'))
  end
  names = ['bare C loop', 'store, JRuby', 'adapter, JRuby']
  report.add(contest.run("get on 8 threads, #{contest.server_name}, JRuby", 'get', names, folder, threads: 8))
end

report = Report.new('Contention')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    folder = contest.folder('small')
    busy_processes(contest, report, folder) if server == Contest::OpenLDAP
    threads(contest, report, folder)
    contest.versions
  end
end
report.print('contention', versions.inject(:merge).merge(Versions.of('JRuby')))
