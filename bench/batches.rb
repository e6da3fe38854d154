# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/distance'

# Many keys at once, and a whole tree, against one after the other.
KEYS = 100
FOLDERS = SideBySide::QUICK ? 10 : 100
DOCUMENTS = Contest::SMALL.map { |value| Simpkv::Codec.encode(value, 'owner' => 'ops') }

# Writes other documents than the last time, to keys of its own.
def writer(store, folder)
  keys = Array.new(KEYS) { |number| "#{folder}/k#{number}" }
  turn = 0
  lambda do
    turn += 1
    yield store, keys.to_h { |key| [key, DOCUMENTS[turn % 2]] }
  end
end

# A tree, folder by folder, by paths.
def walk(store, folder, place = '')
  found = store.list(folder)
  keys = found[:keys].transform_keys { |name| "#{place}#{name}" }
  found[:folders].inject(keys) { |all, name| all.merge(walk(store, "#{folder}/#{name}", "#{place}#{name}/")) }
end

def compare(report, where, store, milliseconds, bars)
  keys = Array.new(KEYS) { |number| "globals/read/k#{number}" }
  {
    'get' => { 'one by one' => -> { keys.map { |key| store.get(key) } }, 'at once' => -> { store.get_many(keys).values } },
    'put' => { 'one by one' => writer(store, 'globals/a') { |s, all| all.map { |key, document| s.put(key, document) } },
               'at once' => writer(store, 'globals/b') { |s, all| s.put_many(all).values } },
    'tree' => { 'one by one' => -> { walk(store, 'globals/tree') }, 'at once' => -> { store.tree('globals/tree')[:keys] } }
  }.each do |what, contestants|
    title = "#{what == 'tree' ? "tree of #{FOLDERS} folders" : "#{what} of #{KEYS} keys"}#{where}"
    rows = report.add(SideBySide.run(title, contestants, equal: ->(found) { found.is_a?(Hash) ? found.sort : found },
                                                         blocks: SideBySide::QUICK ? 3 : 20))
    bar = bars[what] if milliseconds == 1
    report.at_least(title, bar, Report.ratio(rows, 'at once', 'one by one')) if bar
  end
end

def fill(store)
  store.put_many(Array.new(KEYS) { |number| ["globals/read/k#{number}", DOCUMENTS.first] }.to_h)
  store.put_many(Array.new(FOLDERS * 10) do |number|
    ["globals/tree/f#{number % FOLDERS}/k#{number}", DOCUMENTS.first]
  end.to_h)
end

report = Report.new('Batches')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    fill(Simpkv::Store.open('ldap', contest.server.options('id' => Contest::ID)))
    [0, 1].each do |milliseconds|
      Distance.before(contest.server, milliseconds) do |uri|
        store = Simpkv::Store.open('ldap', contest.server.options('id' => Contest::ID, 'ldap_uri' => uri))
        # 100 keys take 2 to 4 round trips in place of 100 or more, a tree one for each page.
        compare(report, " at #{milliseconds} ms, #{contest.server_name}", store, milliseconds,
                { 'get' => 10, 'put' => 5, 'tree' => 10 })
      end
    end
    contest.versions
  end
end
Dir.mktmpdir do |folder|
  store = Simpkv::Store.open('file', 'root_path' => folder)
  fill(store)
  compare(report, ', files', store, nil, {})
end
report.print('batches', versions.inject(:merge))
