# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/distance'

# Many keys at once, and a whole tree, against one after the other.
class Batches
  KEYS = 100
  FOLDERS = SideBySide::QUICK ? 10 : 100
  DOCUMENTS = Contest::SMALL.map { |value| Simpkv::Codec.encode(value, 'owner' => 'ops') }

  # @param store [Simpkv::Store]
  def initialize(store)
    @store = store
    @turns = Hash.new(0)
  end

  def fill
    @store.put_many(keys('globals/read').to_h { |key| [key, DOCUMENTS.first] })
    FOLDERS.times do |number|
      @store.put_many(keys("globals/tree/f#{number}").first(10).to_h { |key| [key, DOCUMENTS.last] })
    end
  end

  # @return [Hash{String => Hash{String => Proc}}] contestants, by the title of the case
  def cases
    { "get of #{KEYS} keys" => reads, "put of #{KEYS} keys" => writes, "tree of #{FOLDERS} folders" => trees }
  end

  private

  def reads
    keys = keys('globals/read')
    { 'one by one' => -> { keys.map { |key| @store.get(key) } }, 'at once' => -> { @store.get_many(keys).values } }
  end

  def writes
    { 'one by one' => -> { changed('globals/a').map { |key, document| @store.put(key, document) } },
      'at once' => -> { @store.put_many(changed('globals/b')).values } }
  end

  def trees
    { 'one by one' => -> { walk('globals/tree').sort }, 'at once' => -> { @store.tree('globals/tree')[:keys].sort } }
  end

  def keys(folder)
    Array.new(KEYS) { |number| "#{folder}/k#{number}" }
  end

  # Other documents than the last time.
  def changed(folder)
    document = DOCUMENTS[(@turns[folder] += 1) % 2]
    keys(folder).to_h { |key| [key, document] }
  end

  # A tree, folder by folder, by paths.
  def walk(folder, place = '')
    found = @store.list(folder)
    keys = found[:keys].transform_keys { |name| "#{place}#{name}" }
    found[:folders].inject(keys) { |all, name| all.merge(walk("#{folder}/#{name}", "#{place}#{name}/")) }
  end
end

def compare(report, where, store)
  Batches.new(store).cases.each do |title, contestants|
    report.add(SideBySide.run("#{title}#{where}", contestants, blocks: SideBySide::QUICK ? 3 : 20))
  end
end

report = Report.new('Batches')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    options = contest.server.options('id' => Contest::ID)
    Batches.new(Simpkv::Store.open('ldap', options)).fill
    [0, 1].each do |milliseconds|
      Distance.before(contest.server, milliseconds) do |uri|
        store = Simpkv::Store.open('ldap', options.merge('ldap_uri' => uri))
        compare(report, " at #{milliseconds} ms, #{contest.server_name}", store)
      end
    end
    contest.versions
  end
end
Dir.mktmpdir do |folder|
  store = Simpkv::Store.open('file', 'root_path' => folder)
  Batches.new(store).fill
  compare(report, ', files', store)
end
report.print('batches', versions.inject(:merge))
