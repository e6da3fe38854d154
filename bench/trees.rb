# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/distance'

# Deletes a folder of many keys, as a contestant; the keys are made anew each time, which does not count.
class Tree
  # @param contest [Contest]
  # @param folder [Contest::Folder]
  # @param delete [Proc] deletes the folder
  def initialize(contest, folder, delete)
    @contest = contest
    @folder = folder
    @delete = delete
  end

  def answer
    time(1)
    @contest.server.search(DirectoryServer::BASE_DN, '(objectClass=simpkvEntry)')
  end

  # @return [nil] a part of it is another process
  def processor; end

  def time(_count)
    @contest.fill(@folder)
    SideBySide::InProcess.new(@delete).time(1)
  end
end

COUNT = SideBySide::QUICK ? 100 : 10_000
BARS = { 'slapd' => 10, '389-DS' => 6 }.freeze

def ldapdelete(contest, folder, uri)
  lambda do
    system({ 'LDAPNOINIT' => '1' }, 'ldapdelete', '-r', '-x', '-H', uri, '-D', DirectoryServer::USER_DN,
           '-y', contest.server.password_file, contest.dn(folder.path), exception: true)
  end
end

report = Report.new('Trees')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    folder = contest.folder('tree', keys: COUNT, fill: false)
    [0, 1].each do |milliseconds|
      Distance.before(contest.server, milliseconds) do |uri|
        store = Simpkv::Store.open('ldap', contest.server.options('id' => Contest::ID, 'ldap_uri' => uri))
        deletions = { 'ldapdelete -r' => ldapdelete(contest, folder, uri),
                      'store' => -> { store.deletetree(folder.path) } }
        title = "deletetree of #{COUNT} keys at #{milliseconds} ms, #{contest.server_name}"
        rows = report.add(SideBySide.run(title, deletions.transform_values { |each| Tree.new(contest, folder, each) },
                                         seconds: nil, blocks: 3))
        next if milliseconds.zero?

        report.at_least("#{title} / ldapdelete -r", BARS.fetch(contest.server_name),
                        Report.ratio(rows, 'store', 'ldapdelete -r'))
      end
    end
    contest.versions
  end
end
report.print('trees', versions.inject(:merge).merge(Versions.of('ldap-utils')))
