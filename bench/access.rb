# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/estate_places'
require_relative '../gems/simpkv-access/spec/support/access_site'

# How long do plan and apply take with many users and roles, and what do the rules of roles cost a get? The sites have
# no role, one role and many roles, each in a server of its own; the servers of one kind run at the same time. In the
# site with many roles, the key of a get is below the last of their rules, or in a folder that all of them read; then
# the member is in the last of their groups.
class AccessControl
  MANY = SideBySide::QUICK ? { users: 20, roles: 4, bindings: 40 } : { users: 1000, roles: 200, bindings: 2000 }
  ONE = { users: 1, roles: 1, bindings: 1 }.freeze
  PLANS = SideBySide::QUICK ? 1 : 5
  WARM = 8 # seconds under load, after which 389-DS has reached its speed
  DOCUMENT = '{"value":{"password":"Xu8#kq!0"},"metadata":{"owner":"ops"}}'
  OLD = 'one identity for everything'

  # The role whose rules are the last ones that slapd compares: short names come after long ones. And a user whose two
  # roles are the last ones by name.
  LAST = SideBySide::QUICK ? 3 : 9
  LAST_USER = SideBySide::QUICK ? 'u2' : 'u98'

  # @param report [Report]
  # @param kind [Class] of the servers
  def self.run(report, kind)
    directories = Array.new(3) { AccessDirectory.new(kind, 'plain', durable: true) }
    directories.each(&:start)
    new(report, kind <= Slapd ? 'slapd' : '389-DS', *directories).run
  ensure
    directories.to_a.each(&:stop)
  end

  def initialize(report, server, none, one, many)
    @report = report
    @server = server
    @none = none
    @one = one
    @many = many
    @old = directories.to_h { |directory| [directory, directory.store_of(DirectoryServer::USER_DN)] }
  end

  def run
    AccessSite.new(@one, **ONE).apply
    plan(AccessSite.new(@many, **MANY))
    keys = [own(0), own(LAST), AccessSite::SHARED].to_h { |folder| ["#{folder}/k", DOCUMENT] }
    directories.each { |directory| directory.root.put_many(keys) }
    get("get, #{@server}", own(0), own(LAST), "u#{LAST}")
    get("get from a folder of all roles, #{@server}", AccessSite::SHARED, AccessSite::SHARED, LAST_USER)
  ensure
    @old.each_value(&:close)
  end

  private

  def directories
    [@none, @one, @many]
  end

  # @return [String] the folder of a role
  def own(number)
    "environments/e#{number}"
  end

  def plan(site)
    apply = seconds { site.apply }
    plans = Array.new(PLANS) { seconds { raise 'there is something to do' if site.plan.steps.any? } }
    median = plans.sort[PLANS / 2]
    @report.note(format('%<server>s: the first apply of %<users>d users, %<roles>d roles and %<bindings>d bindings ' \
                        'takes %<apply>.1f s, a plan without changes %<plan>.2f s.',
                        MANY.merge(server: @server, apply: apply, plan: median)))
    @report.at_most("seconds of a plan without changes, #{@server}", 5, median)
  end

  def seconds
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
  end

  # @param one [String] the folder of the key in the sites with no role and with one
  # @param many [String] that in the site with many roles
  # @param member [String] of a role there
  def get(title, one, many, member)
    stores = { "#{OLD}, no role" => [@old[@none], one], "#{OLD}, 1 role" => [@old[@one], one],
               'member, 1 role' => [@one.store('u0'), one], "#{OLD}, #{MANY[:roles]} roles" => [@old[@many], many],
               "member, #{MANY[:roles]} roles" => [@many.store(member), many] }
    contestants = stores.transform_values { |store, folder| -> { store.get("#{folder}/k") } }
    @report.add(SideBySide.run(title, contestants, seconds: Contest::BLOCK_SECONDS,
                                                   warm: @server == '389-DS' ? WARM : 0))
  end
end

report = Report.new('Access control')
AccessControl.run(report, Contest::OpenLDAP)
AccessControl.run(report, EstatePlaces::DS389) unless SideBySide::QUICK
report.print('access', Versions.own.merge(Versions.of('slapd', '389-ds-base')))
