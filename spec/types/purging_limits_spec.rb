# frozen_string_literal: true

require_relative 'types_helper'

RSpec.describe 'The parameter purge_unless' do
  include_context 'with keys as resources'

  # @param patterns [String] in the language of manifests
  # @return [Array<String>] the keys that a purge leaves
  def left(patterns, more = 'recurse => true')
    fill(%w[keep1 keep2 x/keep3 x/y/secret secret other.tmp Old].to_h { |name| ["app1/#{name}", { value: 1 }] })
    apply!("simpkv_folder { 'app1': purge => true, purge_unless => #{patterns}, #{more} }")
    keys.map { |key| key.delete_prefix('app1/') }
  end

  # A * of a glob matches no slash.
  [["'keep*'", %w[keep1 keep2]], ["['keep1', 'x/*']", %w[keep1 x/keep3]], ["'**/secret'", %w[secret x/y/secret]],
   ["'app1/keep?'", %w[keep1 keep2]], ["'*.tmp'", %w[other.tmp]], ["'x/**'", %w[x/keep3 x/y/secret]],
   ["'{x/y,keep[12]}/'", %w[x/y/secret]], ["['[k]eep1', '*/keep3']", %w[keep1 x/keep3]],
   ['/keep\d$/', %w[keep1 keep2 x/keep3]], ["'/^x/'", %w[x/keep3 x/y/secret]], ['/(?i)OLD/', %w[Old]],
   ['[/^app1.secret$/, "other*"]', %w[other.tmp secret]], ['[]', []], ["'nothing'", []]].each do |patterns, kept|
    it "keeps the entries that match #{patterns}" do
      expect(left(patterns)).to eq(kept.sort)
    end
  end

  it 'keeps the entries with names that are no text, and those that cannot be read, by their true names' do
    fill('app1/A Name' => { value: 1 }, 'app1/broken1' => 'broken', 'app1/broken2' => 'broken')
    apply!("simpkv_folder { 'app1': purge => true, purge_unless => ['A *', 'broken1'] }")
    expect([keys, removed]).to eq([['app1/A Name', 'app1/broken1'], ['Simpkv_key[app1:unnamed-3]']])
  end

  it 'fails the folder for what is no regular expression, and nothing is purged' do
    fill('app1/a' => { value: 1 })
    apply("simpkv_folder { 'app1': purge => true, purge_unless => '/(/' }")
    expect([failed, keys]).to eq([['Simpkv_folder[app1]'], %w[app1/a]])
    expect(log.grep(/^err/).join).to include('/(/')
  end

  ["''", '5', "{ 'a' => 1 }", "['a', 5]"].each do |patterns|
    it "refuses #{patterns} before anything is written" do
      fill('app1/a' => { value: 1 })
      expect { apply("simpkv_folder { 'app1': purge => true, purge_unless => #{patterns} }") }
        .to raise_error(Puppet::Error, /purge_unless/)
      expect(keys).to eq(%w[app1/a])
    end
  end
end

RSpec.describe 'The parameter purge_limit' do
  include_context 'with keys as resources'

  def fill_folder(number)
    fill((1..number).to_h { |each| [format('app1/k%05d', each), { value: each }] })
  end

  # @return [String] the log of a run in which the folder failed and nothing was removed
  def refused(more = '')
    before = keys
    apply("simpkv_folder { 'app1': purge => true, #{more} } simpkv_key { 'app2/x': value => 1 }")
    expect([failed, removed]).to eq([['Simpkv_folder[app1]'], []])
    expect(keys).to eq([*before, 'app2/x'].sort)
    log.grep(/^err/).join("\n")
  end

  it 'is 1,000: one more is an error before the first removal, which names folder, number and limit' do
    fill_folder(1001)
    expect(refused).to match(/app1.*1,?001.*1,?000/)
  end

  it 'lets exactly as many go' do
    fill_folder(1001)
    apply!("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/k00007': value => 7 }")
    expect(keys).to eq(%w[app1/k00007])
  end

  it 'does not count the entries that purge_unless keeps' do
    fill_folder(5)
    apply!("simpkv_folder { 'app1': purge => true, purge_limit => 2, purge_unless => 'k0000[345]' }")
    expect(keys).to eq(%w[app1/k00003 app1/k00004 app1/k00005])
  end

  it 'counts one key as one (the message said 1 keys)' do
    fill_folder(1)
    expect(refused('purge_limit => 0')).to include("would remove 1 key, more than the 0 of 'purge_limit'")
  end

  it 'counts all folders below, with recurse' do
    fill('app1/a' => { value: 1 }, 'app1/b/c' => { value: 1 }, 'app1/d/e/f' => { value: 1 })
    expect(refused('recurse => true, purge_limit => 2')).to match(/app1.*3.*2/)
  end

  it 'holds with noop as well' do
    fill_folder(3)
    apply("simpkv_folder { 'app1': purge => true, purge_limit => 2 }", noop: true)
    expect([failed, removed('noop')]).to eq([['Simpkv_folder[app1]'], []])
  end

  # It removed 1,500 keys with "ensure: removed".
  it 'holds for the removal of a folder with its keys, which says how many there are' do
    fill('app1/a' => { value: 1 }, 'app1/b/c' => { value: 1 }, 'app1/b/d' => 'broken')
    absent = "simpkv_folder { 'app1': ensure => absent, recurse => true, purge_limit => %d }"
    [{ noop: false }, { noop: true }].each do |settings|
      apply(format(absent, 2), **settings)
      expect(failed).to eq(['Simpkv_folder[app1]'])
      expect(log.grep(/^err/).join).to include("the removal would remove 3 keys, more than the 2 of 'purge_limit'")
    end
    apply!(format(absent, 3), noop: true)
    expect(log.join).to match(/(removed|'?present'?) with 3 keys\b.*\(noop\)/)
    expect(keys.length).to eq(3)
    apply!(format(absent, 3), noop: false)
    expect(log.grep_v(/noop/).join).to include('removed with 3 keys')
    expect(keys).to eq([])
  end

  %w[-1 1.5 many [5] true].each do |limit|
    it "cannot be #{limit}" do
      limit = "'#{limit}'" if limit == 'many'
      expect { apply("simpkv_folder { 'app1': purge => true, purge_limit => #{limit} }") }
        .to raise_error(Puppet::Error, /purge_limit/)
    end
  end
end
