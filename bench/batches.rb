# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/distance'

# How fast are many keys? Compares a batch, and a tree, with single calls, near the server and 1 ms away. Then measures
# lists of 10 to 100,000 keys; there the bare C loop makes a paged search and reads entry by entry.
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
    { 'one by one' => -> { keys.map { |key| @store.get(key) } }, 'batch' => -> { @store.get_many(keys).values } }
  end

  def writes
    { 'one by one' => -> { changed('globals/a').map { |key, document| @store.put(key, document) } },
      'batch' => -> { @store.put_many(changed('globals/b')).values } }
  end

  def trees
    { 'one by one' => -> { walk('globals/tree').sort }, 'batch' => -> { @store.tree('globals/tree')[:keys].sort } }
  end

  def keys(folder)
    Array.new(KEYS) { |number| "#{folder}/k#{number}" }
  end

  # @return [Hash{String => String}] documents that differ from those of the previous call
  def changed(folder)
    document = DOCUMENTS[(@turns[folder] += 1) % 2]
    keys(folder).to_h { |key| [key, document] }
  end

  # Lists a tree folder by folder.
  def walk(folder, prefix = '')
    listed = @store.list(folder)
    keys = listed[:keys].transform_keys { |name| "#{prefix}#{name}" }
    listed[:folders].inject(keys) { |all, name| all.merge(walk("#{folder}/#{name}", "#{prefix}#{name}/")) }
  end
end

COUNTS = SideBySide::QUICK ? [10, 1000] : [10, 1000, 10_000, 100_000]
BLOCKS = Hash.new(SideBySide::BLOCKS).merge(100_000 => 15).freeze

def compare(report, place, store)
  Batches.new(store).cases.each do |title, contestants|
    report.add(SideBySide.run("#{title}#{place}", contestants, blocks: SideBySide::QUICK ? 3 : 20))
  end
end

def batches(contest, report)
  options = contest.server.options('id' => Contest::ID)
  Batches.new(Simpkv::Store.open('ldap', options)).fill
  [0, 1].each do |milliseconds|
    Distance.before(contest.server, milliseconds) do |uri|
      store = Simpkv::Store.open('ldap', options.merge('ldap_uri' => uri))
      compare(report, " at #{milliseconds} ms, #{contest.server_name}", store)
    end
  end
end

def lists(contest, report)
  folders = COUNTS.to_h { |count| [count, contest.folder("list#{count}", keys: count)] }
  folders.each do |count, folder|
    rows = contest.run("list of #{count} keys, #{contest.server_name}", 'list',
                       ['bare C loop', 'C core', 'store', 'adapter'], folder, blocks: BLOCKS[count])
    report.add(rows)
  end
end

report = Report.new('Batches and lists')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    batches(contest, report)
    lists(contest, report)
    contest.versions
  end
end
Dir.mktmpdir do |folder|
  store = Simpkv::Store.open('file', 'root_path' => folder)
  Batches.new(store).fill
  compare(report, ', files', store)
end
report.print('batches', versions.inject(:merge))
