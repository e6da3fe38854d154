# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/catalogs'
require_relative 'support/steady'
require_relative '../rakelib/rubies'

# How much longer does a catalog take? Measures catalogs that puppetserver compiles, with the options of Java of its
# service. Each has 1,000 iterations: without a call, with a call of Puppet's own, and with a get; or ten batches. Then
# four JRubies compile at once; and JRuby calls the function outside of puppetserver, Debian's and the newest one.
class CatalogTimes
  JRUBIES = 4
  BATCH = '100 in a batch'
  NONE = 'iterations'
  GETS = 'gets'
  BARE = 'bare C loop'
  IN_FLIGHT = 'bare C loop, 16 in flight'
  BLOCKS = SideBySide::QUICK ? 3 : 50

  # @return [Array<String>] the titles of the notices of each catalog
  NOTICES = { 'nothing' => '0 values', NONE => '100 values', 'upcase' => '100 values', GETS => '1 values',
              BATCH => '1 values' }.freeze

  def initialize(contest, report)
    @contest = contest
    @report = report
    @uris = { 'TCP' => contest.server.tcp_uri, 'TLS' => contest.server.tls_uri }
    @folders = @uris.keys.to_h { |transport| [transport, contest.folder('small', environment: transport.downcase)] }
  end

  def run
    Catalogs.of(@contest, JRUBIES) do |catalogs|
      @uris.each { |transport, uri| catalogs.environments(transport.downcase, uri, NOTICES.keys) }
      catalogs.server.start
      @uris.each_key { |transport| one_at_a_time(catalogs, transport) }
      at_once(catalogs)
    end
    outside
  end

  private

  # @return [Proc] which compiles a catalog
  def compiling(catalogs, transport, name)
    environment = Catalogs.name_of(transport.downcase, name)
    lambda do
      notices = catalogs.server.compile(environment)
      notices == [NOTICES[name]] ? notices : raise("#{environment} has #{notices}, not #{NOTICES[name]}")
    end
  end

  def one_at_a_time(catalogs, transport)
    names = NOTICES.keys.to_h { |name| [name, compiling(catalogs, transport, name)] }
    names.each { |name, compile| Steady.reach("#{name}, #{transport}", &compile) }
    rows = measure("catalogs, #{transport}", transport, [BARE, IN_FLIGHT], names)
    bare, in_flight, nothing, iterations, _, gets, batches = rows.map(&:median)
    at_most("get / bare get, #{transport}", 1.5, (gets - iterations) / (1000 * bare))
    at_most("key of a batch / bare get with 16 in flight, #{transport}", 1.3, (batches - nothing) / (1000 * in_flight))
  end

  # One operation is a catalog on each of the JRubies, or a get on each of as many threads.
  def at_once(catalogs)
    compiles = [NONE, GETS].to_h do |name|
      compile = compiling(catalogs, 'TCP', name)
      [name, -> { Array.new(JRUBIES) { Thread.new(&compile) }.map(&:value) }]
    end
    compiles.each { |name, compile| Steady.reach("#{name}, #{JRUBIES} at once", &compile) }
    rows = measure("#{JRUBIES} catalogs at once, TCP", 'TCP', [BARE], compiles, threads: JRUBIES)
    bare, iterations, gets = rows.map(&:median)
    @report.at_least("puppetserver: #{JRUBIES} bare loops / #{JRUBIES} JRubies at once", 0.9,
                     1000 * bare / (gets - iterations))
  end

  # @param names [Array<String>] of {Contest::COMMANDS}
  # @param catalogs [Hash{String => Proc}]
  def measure(title, transport, names, catalogs, settings = {})
    settings = { uri: @uris[transport] }.merge(settings)
    bare = names.to_h { |name| [name, @contest.contestant(name, 'get', @folders[transport], settings)] }
    @report.add(SideBySide.run(title, bare.merge(catalogs), equal: ->(_answer) {}, seconds: Contest::BLOCK_SECONDS,
                                                            blocks: BLOCKS))
  ensure
    bare&.each_value(&:stop)
  end

  def outside
    newest = 'function, newest JRuby'
    commands = { newest => [Contest::OUTSIDE, *Rubies.newest_jruby('-Xss2m'), Contest::BY_RUBY, 'function'] }
    rows = @contest.run('function outside of puppetserver, TCP', 'get', [BARE, 'function, JRuby', newest],
                        @contest.folder('small'), { uri: @uris['TCP'], commands: commands, warm: 40 })
    ['function, JRuby', newest].each do |name|
      @report.at_most("#{name} / bare get, TCP", 1.5, 1 / Report.ratio(rows, name, BARE))
    end
    @report.add(rows)
  end

  def at_most(name, target, measured)
    @report.at_most("puppetserver: #{name}", target, measured)
  end
end

report = Report.new('puppetserver')
Contest.at(Contest::OpenLDAP) do |contest|
  CatalogTimes.new(contest, report).run
  report.print('puppetserver', contest.versions.merge(Versions.of('JRuby', 'jruby-jars', 'puppetserver')))
end
