# frozen_string_literal: true

require_relative '../support/ldap_store'

Directories::ALL.each do |server, layout, tags|
  RSpec.describe "Trees in a directory, #{server} #{layout}", **tags do
    include_context 'with a directory', server, layout: layout, limits: true

    let(:paged) { open_store('page_size' => 7) }

    def document(value)
      %({"value":"#{value}","metadata":{}})
    end

    # Returns the tree of a folder from a list of each folder.
    def walk(folder, place = '', found = { keys: {}, folders: [], errors: {} })
      here = store.list("#{folder}/#{place}")
      %i[keys errors].each { |kind| here[kind].each { |name, text| found[kind]["#{place}#{name}"] = text } }
      here[:folders].each do |name|
        found[:folders] << "#{place}#{name}"
        walk(folder, "#{place}#{name}/", found)
      end
      found
    rescue Simpkv::NotFoundError, Simpkv::InvalidError
      place.empty? ? raise : found
    end

    def sorted(found)
      found.merge(folders: found[:folders].sort)
    end

    def expect_same(folder)
      walked = walk(folder)
      [store, paged].each { |each| expect(sorted(each.tree(folder))).to eq(sorted(walked)) }
      expect(sorted(paged.tree(folder, values: false)))
        .to eq(sorted(walked.merge(keys: walked[:keys].transform_values { '' })))
      walked
    end

    # Adds an entry for a folder, of simpkv's or another class.
    def entry(dn, attributes)
      directory.add("dn: #{dn}\n#{attributes.map { |name, value| "#{name}: #{value}\n" }.join}")
    end

    it 'equal the result of a walk from folder to folder, even if deep or larger than a page' do
      deep = "globals/t/#{(1..30).to_a.join('/')}"
      documents = (0...60).to_h { |n| ["globals/t/f#{n % 9}/g#{n % 4}/k#{n}", document(n)] }
      store.put_many(documents.merge("#{deep}/k" => document('deep'), 'globals/u' => document('aside')))
      store.deletetree('globals/t/f3')
      found = expect_same('globals/t')
      expect(found[:keys].length).to eq(61 - documents.keys.grep(%r{/f3/}).length)
      expect(found[:folders]).to include(deep.delete_prefix('globals/t/'))
      expect_same(deep)
    end

    it 'of the whole store have both roots, even if these are empty' do
      expect(store.tree('')).to eq(keys: {}, folders: %w[environments globals], errors: {})
      expect(store.tree('globals')).to eq(keys: {}, folders: [], errors: {})
      store.put('environments/dev/a/k', document(1))
      expect(store.tree('environments')).to eq(keys: { 'dev/a/k' => document(1) }, folders: %w[dev dev/a], errors: {})
      store.put('globals/k', document(2))
      expect(sorted(store.tree('/'))).to eq(keys: { 'environments/dev/a/k' => document(1), 'globals/k' => document(2) },
                                            folders: %w[environments environments/dev environments/dev/a globals],
                                            errors: {})
      expect { store.tree('environments/none') }.to raise_error(Simpkv::NotFoundError, /'environments.none' not found/)
      expect { store.tree('globals/k') }.to raise_error(Simpkv::NotFoundError)
    end

    it 'of an empty folder are empty' do
      store.put('globals/empty/k', document(1))
      store.delete('globals/empty/k')
      expect(expect_same('globals/empty')).to eq(keys: {}, folders: [], errors: {})
    end

    it 'keep names that a DN must escape, and case in the hex layout' do
      store.put('globals/n/a,b=c/#1/ "q"+\\é', document('é'))
      store.put('globals/n/A,b=d/k', document(2))
      expect(expect_same('globals/n')[:keys].keys).to contain_exactly('a,b=c/#1/ "q"+\\é', 'A,b=d/k')
    end

    it "omit entries that are not simpkv's, with everything below them" do
      store.put('globals/s/k', document(1))
      role = { 'objectClass' => 'organizationalRole', 'cn' => 'x' }
      unit = { 'objectClass' => 'organizationalUnit', 'ou' => 'x' }
      entry("cn=x,#{dn('globals/s', :folder)}", role)
      entry("ou=x,cn=x,#{dn('globals/s', :folder)}", unit)
      entry("ou=x,#{dn('globals/s/k')}", unit)
      entry("cn=x,#{dn('globals/s/k')}", role)
      entry("ou=y,ou=x,#{dn('globals/s/k')}", unit.merge('ou' => 'y'))
      expect(expect_same('globals/s')).to eq(keys: { 'k' => document(1) }, folders: [], errors: {})
      expect_same('globals')
    end

    it 'distinguish a key from a folder of the same name' do
      skip_hex = layout == 'hex'
      store.put('globals/both/both/k', document(1))
      store.put('globals/both/both', document(2)) unless skip_hex
      store.put('globals/both', document(3)) unless skip_hex
      expect(expect_same('globals')[:keys].length).to eq(skip_hex ? 1 : 3)
    end

    it 'yield each document as it arrives' do
      30.times { |n| store.put("globals/b/f#{n % 3}/k#{n}", document(n)) }
      found = paged.tree('globals/b') { |path, text| [path, text] }
      expect(found[:keys].values).to match_array((0...30).map { |n| ["f#{n % 3}/k#{n}", document(n)] })
      expect { paged.tree('globals/b') { raise 'enough' } }.to raise_error(RuntimeError, 'enough')
      expect(paged.get('globals/b/f1/k1')).to eq(document(1))
    end
  end
end

RSpec.describe 'A tree in a directory', :once do
  include_context 'with slapd'

  def searches(store)
    before = slapd.log.length
    yield store
    slapd.log[before..].scan(/SRCH base="(?:[^"]*,)?ou=#{id},.*scope=(\d)/).flatten
  end

  it 'needs one search (a walk needs one for each folder)' do
    100.times { |n| store.put("globals/t/f#{n}/k", '{"value":1}') }
    expect(searches(store) { |s| s.tree('globals/t') }).to eq(%w[2])
    expect(searches(store) { |s| s.tree('') }).to eq(%w[2])
    expect(searches(store) { |s| s.list('globals/t')[:folders].each { |name| s.list("globals/t/#{name}") } })
      .to eq(%w[1] * 101)
  end

  it 'is requested in further pages only if it has more entries than a page' do
    paged = open_apart('page_size' => 4)
    # The folder itself is one of the entries.
    [1, 1, 3, 3].each.with_index(1) do |expected, number|
      store.put("globals/t/f#{number}/k", '{"value":1}') if number.odd?
      store.put("globals/t/f#{number - 1}/other", '{"value":1}') if number.even?
      expect(searches(paged) { |s| s.tree('globals/t') }).to eq(%w[2] * expected), "step #{number}"
    end
  end

  it 'without values neither requests nor receives documents' do
    store.put('globals/t/k', '{"value":"hush"}')
    before = slapd.log.length
    store.tree('globals/t', values: false)
    expect(slapd.log[before..]).to match(/SRCH attr=1\.1$/)
    expect(slapd.log[before..]).not_to include('simpkvJsonValue')
  end
end
