# frozen_string_literal: true

require_relative 'support/contest'

# Gets by several threads at once: each of the bare C loop has a connection of its own, those of simpkv share a pool. An
# operation is one get on each thread.
report = Report.new('Threads')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    folder = contest.folder('small')
    (SideBySide::QUICK ? [8] : [1, 2, 4, 8]).each do |threads|
      title = "get on #{threads} threads, #{contest.server_name}"
      rows = report.add(contest.run(title, 'get', ['bare C loop', 'C core', 'store', 'adapter'], folder,
                                    threads: threads))
      next if threads < 8

      %w[store adapter].each do |layer|
        report.at_least("#{layer} on MRI / bare C loop: #{title}", 0.9, Report.ratio(rows, layer, 'bare C loop'))
      end
    end
    names = ['bare C loop', 'store, JRuby', 'adapter, JRuby']
    report.add(contest.run("get on 8 threads, #{contest.server_name}, JRuby", 'get', names, folder, threads: 8))
    contest.versions
  end
end
report.print('threads', versions.inject(:merge).merge(Versions.of('JRuby')))
