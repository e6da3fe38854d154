# frozen_string_literal: true

require_relative 'query_helper'

RSpec.describe Simpkv::Query::Compiler do
  include_context 'with the index of an estate'

  # The database with the functions of queries.
  let(:tables) { engine && @database }

  describe '=' do
    it 'compares the fields of a node' do
      expect(nodes(%w[= certname web1], 'nodes')).to eq(%w[web1])
      expect(nodes(%w[= facts_environment lab], 'nodes')).to eq(%w[facts-only])
      expect(nodes(['=', 'latest_report_noop', true], 'nodes')).to eq(%w[db1])
    end

    it 'takes times in any form of ISO 8601, and compares the moment' do
      %w[2026-11-21T13:00:00Z 2026-11-21T14:00:00+01:00 20261121T130000Z 2026-W47-6T13 2026W476T1300 2026-325T13:00
         2026325T140000.0+0100].push('2026-11-21 13:00').each do |time|
        expect(nodes(['=', 'producer_timestamp', time], 'factsets')).to include('web1')
      end
    end

    it 'distinguishes texts, numbers and booleans in JSON, but not 1 and 1.0' do
      expect(nodes(['=', 'facts.processors.count', 4])).to eq(%w[db1 web1])
      expect(nodes(['=', 'facts.processors.count', 4.0])).to eq(%w[db1 web1])
      expect(nodes(['=', 'facts.processors.count', '4'])).to eq([])
      expect(nodes(['=', 'facts.is_virtual', true])).to eq(%w[web1])
      expect(nodes(['=', 'facts.is_virtual', 'true'])).to eq(%w[db1])
    end

    it 'compares lists and objects as a whole' do
      expect(nodes(['and', %w[= name processors], ['=', 'value', { 'count' => 4 }]], 'facts')).to eq(%w[db1])
      expect(titles(['=', %w[parameter options], { 'x' => [1, { 'y' => 'z' }] }])).to eq(%w[nginx])
    end

    # Groups and subqueries compared their texts, and took true for 1.
    it 'is one thing in conditions, groups and subqueries' do
      values = ['{"a":1,"b":[2]}', '{"b":[2.0],"a":1}', '5', '5.0', '"5"', '1', 'true', 'null', '{"a":"1","b":[2]}']
      group = Simpkv::Query::Place.in('value').identity.map(&:sql).join(', ')
      counts = tables.execute("SELECT count(*) FROM json_each(?) GROUP BY #{group}", [JSON.generate(values)])
      expect(counts.flat_map(&:to_a).sort).to eq([1, 1, 1, 1, 1, 2, 2])

      ones = %w[from inventory].push(['extract', 'facts.processors[0].count'])
      expect(nodes(['in', 'facts.is_virtual', ones])).to eq([])
      expect(nodes(['in', 'facts.processors[0].count', ones])).to eq(%w[facts-only])
      noops = %w[from nodes].push(%w[extract latest_report_noop])
      expect(nodes(['in', 'facts.is_virtual', noops])).to eq(%w[web1 web2])
    end

    it 'finds what a list or an object at a dotted path contains' do
      expect(nodes(['=', 'facts.processors', { 'count' => 4 }])).to eq(%w[db1 web1])
      expect(nodes(['=', 'facts.processors.models', ['Atom', 'Xeon E5']])).to eq(%w[web1])
    end

    it 'compares tags without regard to case, and each of them' do
      expect(titles(['and', %w[= tag NGINX], %w[= type Package]])).to eq(%w[nginx])
    end

    it 'compares tags as a whole, with or without characters that JSON escapes' do
      expect(titles(%w[= tag ngin])).to eq([])
      expect(titles(['=', 'tag', 'nginx","web'])).to eq([])
      expect(titles(['and', %w[= tag web], %w[= title Nginx]])).to include('Nginx')
    end

    it 'refuses a value of another type' do
      expect { nodes(['=', 'certname', 1], 'nodes') }.to be_refused(/incompatible with string field "certname"/)
      expect { titles(%w[= line 12]) }.to be_refused('Argument "12" is incompatible with numeric field "line".')
      expect { titles(%w[= exported true]) }.to be_refused(/incompatible with boolean field "exported"/)
      expect { nodes(%w[= timestamp yesterday]) }.to be_refused("'yesterday' is not a valid timestamp value")
    end

    it 'names the known fields if one is unknown' do
      expect { rows('environments', %w[= color red]) }
        .to be_refused("'color' is not a queryable object for environments. Known queryable objects are 'name'")
    end
  end

  it 'suggests the operator that one of another language means' do
    expect { titles(['gte', 'line', 12]) }
      .to be_refused('["gte","line",12] is not well-formed: query operator \'gte\' is unknown: did you mean \'>=\'?')
    expect { titles(%w[like title x]) }
      .to be_refused('["like","title","x"] is not well-formed: query operator \'like\' is unknown')
  end

  describe '>, <, >= and <=' do
    it 'compare numbers and times' do
      expect(titles(['>', 'line', 12])).to eq(%w[/var/www])
      expect(nodes(['>=', 'facts.uptime_seconds', 5000])).to eq(%w[web1 web2])
      expect(nodes(['<', 'start_time', '2026-11-20T12:00:00Z'], 'reports')).to eq(%w[old1 web1])
    end

    # They were refused: SQLite has them as floats, of which 2**64 and 2**64 + 1 are the same.
    it 'and = compare integers of more than 64 bits exactly' do
      expect([0, 1, 2].map { |more| nodes(['=', %w[fact huge], (2**64) + more]) }).to eq([[], %w[db1], []])
      expect([0, 1].map { |more| nodes(['>', 'facts.huge', (2**64) + more]) }).to eq([%w[db1], []])
      expect([0, 1].map { |more| nodes(['in', 'facts.huge', ['array', [5, (2**64) + more]]]) }).to eq([[], %w[db1]])
      leaf = ['and', ['=', 'path', %w[huge]], ['=', 'value', (2**64) + 1]]
      expect(rows('fact-contents', leaf).map { |row| row['value'] }).to eq([(2**64) + 1])
      expect([titles(['>', 'line', 2**63]), titles(['<', 'line', -(2**70)])]).to eq([[], []])
      expect(nodes(['<', %w[fact huge], 10**400])).to eq(%w[db1])
    end

    it 'are false for JSON values that are not numbers' do
      expect(nodes(['and', %w[= name load], ['>=', 'value', 0]], 'facts')).to eq(%w[web1 web2])
    end

    it 'refuse texts' do
      expect { nodes(%w[> certname a], 'nodes') }
        .to be_refused('Query operators >,>=,<,<= are not allowed on field certname')
      expect { nodes(%w[> value 1000], 'facts') }
        .to be_refused('Argument "1000" and operator ">" have incompatible types.')
    end
  end

  describe '~' do
    it 'finds a regular expression in a text, and in the text of other JSON values' do
      expect(nodes(%w[~ certname ^web\d$], 'nodes')).to eq(%w[web1 web2])
      expect(nodes(%w[~ facts.processors.count 6])).to eq(%w[web2])
      expect(nodes(%w[~ facts.os Debian])).to eq(%w[web1])
    end

    it 'refuses what is no regular expression' do
      expect { nodes(%w[~ certname (], 'nodes') }.to be_refused(/invalid regular expression/)
      expect { nodes(['~', 'certname', 1], 'nodes') }.to be_refused('A regular expression must be a string')
      expect { titles(%w[~ line 1]) }.to be_refused('Query operator ~ is not allowed on field line')
    end
  end

  # SQLite looks for such a text itself.
  describe '~ with a text in any case' do
    def match?(text, pattern)
      field = Struct.new(:type, :place, :name, :sql).new(:string, nil, 'title', Simpkv::Query::Fragment.of('?', text))
      condition = Simpkv::Query::Compiler::Comparison.of('~', field, pattern)
      tables.get_first_value("SELECT #{condition.sql}", condition.binds) == 1
    end

    it 'finds what the regular expression finds' do
      texts = ['web1', 'WEB1', 'a.b', 'axb', 'A B[1]', 'ünweb1', 'KELVIN', "\u212Aelvin", '', "line\nweb1",
               'A%B', 'a_b', 'a\\b', nil]
      ['web1', 'a.b', 'kelvin', 'b [1]', 'n', 'a%b', '_', 'a\\b'].each do |text|
        pattern = "(?i)#{Regexp.escape(text)}"
        expect(Simpkv::Query::Pattern.literal(pattern)).to eq(text)
        found = texts.select { |each| match?(each, pattern) }
        expect([text, found]).to eq([text, texts.select { |each| each&.match?(/#{Regexp.escape(text)}/i) }])
      end
    end

    # SQLite reads a pattern up to a NUL.
    it 'finds nothing for a NUL in texts without one' do
      expect(match?('a', "(?i)a\\\0")).to be(false)
    end
  end

  describe '~>' do
    def paths(pattern)
      rows('fact-contents', ['extract', 'path', ['and', %w[= certname web1], ['~>', 'path', pattern]]])
        .map { |row| row['path'] }
    end

    it 'matches each element of a path' do
      expect(paths(%w[os release .*])).to contain_exactly(%w[os release full], %w[os release major])
    end

    it 'matches indexes with numbers, and with patterns that are more than digits' do
      expect(paths(['list', 1])).to eq([['list', 1]])
      expect(paths(%w[list [12]])).to contain_exactly(['list', 1], ['list', 2])
      expect(paths(%w[list 1])).to eq([])
      expect(paths(%w[paths 0])).to eq([%w[paths 0]])
    end
  end

  describe 'null?' do
    it 'finds fields without a value' do
      expect(titles(['null?', 'line', true])).to eq(%w[nginx])
      expect(nodes(['null?', 'facts_environment', true], 'nodes')).to eq(%w[catalog-only])
    end

    it 'finds null in JSON; what is missing is neither null nor not null' do
      expect(nodes(['null?', 'facts.blank', true])).to eq(%w[web2])
      expect(nodes(['null?', 'facts.blank', false])).to eq(%w[web1])
    end
  end

  describe 'and, or, not' do
    it 'combine conditions' do
      physical = ['not', ['=', 'facts.is_virtual', true]]
      expect(nodes(['and', %w[= facts.kernel Linux], physical])).to eq(%w[facts-only web2])
      expect(nodes(['or', %w[= facts.kernel windows], %w[= certname web1]])).to eq(%w[db1 web1])
    end

    it 'select nodes without a fact by the negation of an equality' do
      expect(nodes(['not', ['=', 'facts.big', 1]])).to eq(%w[db1 facts-only web1 web2])
      expect(nodes(['not', ['=', %w[fact big], 1]], 'nodes')).to eq(%w[catalog-only db1 facts-only web1 web2])
    end

    it 'need arguments' do
      expect { rows('nodes', ['and']) }.to be_refused("'and' takes at least one argument, but none were supplied")
      expect { rows('nodes', ['not']) }.to be_refused("'not' takes exactly one argument, but 0 were supplied")
      expect { rows('nodes', []) }.to be_refused(/queries must contain at least one operator/)
    end

    it 'take thousands of conditions' do
      names = Array.new(4000) { |number| ['=', 'certname', "web#{number}"] }

      expect(nodes(['or', *names], 'nodes')).to eq(%w[web1 web2])
    end
  end

  describe 'dotted paths' do
    it 'descend into objects and lists' do
      expect(nodes(%w[= facts.os.release.major 12])).to eq(%w[web1])
      expect(nodes(%w[= facts.processors.models[2] Atom])).to eq(%w[web1])
      expect(nodes(['=', 'facts.list[5].deep[1]', 20])).to eq(%w[web1])
      expect(nodes(%w[= trusted.extensions.pp_role web])).to eq(%w[web1 web2])
      expect(titles(%w[= parameters.ensure running])).to eq(%w[nginx])
    end

    it 'have keys in double quotes if they hold dots' do
      expect(nodes(['=', 'facts."dotted.name"', 'dots'])).to eq(%w[web1])
      expect(nodes(['=', 'facts.paths."a.b".c', 1])).to eq(%w[web1])
      expect(nodes(%w[= trusted.extensions."1.3.6.1.4.1.34380.1.2.1" oid])).to eq(%w[web1])
    end

    it 'find keys with any characters, and keys of digits' do
      expect(nodes(['=', 'facts.paths.x "y"', 2])).to eq(%w[web1])
      expect(nodes(%w[= facts.paths.0 zero])).to eq(%w[web1])
      expect(nodes(%w[= facts.processors.models.0 EPYC])).to eq(%w[web2])
    end

    it 'match keys with patterns' do
      expect(nodes(['=', 'facts.networking.interfaces.match("eth[01]").mac', 'aa:02'])).to eq(%w[web2])
      expect(nodes(['=', 'facts.match("kern.*")', 'Linux'])).to eq(%w[facts-only web1 web2])
    end

    it 'must be complete' do
      expect { nodes(%w[= facts. x]) }.to be_refused(/Don't recognize AST field component/)
      expect { nodes(%w[= certname.os x]) }.to be_refused(/'certname.os' is not a queryable object/)
    end
  end

  describe 'in' do
    it 'compares with a list' do
      expect(nodes(['in', 'certname', ['array', %w[web1 db1 nope]]], 'nodes')).to eq(%w[db1 web1])
      expect(nodes(['and', %w[= name text_number], ['in', 'value', ['array', [42]]]], 'facts')).to eq(%w[web2])
      expect(nodes(['in', %w[fact kernel], ['array', %w[Linux]]], 'nodes')).to eq(%w[facts-only web1 web2])
    end

    it 'compares with the rows of a query, in both forms' do
      selected = ['in', 'certname', ['extract', 'certname', ['select_facts', %w[= name big]]]]
      from = ['in', 'certname', ['from', 'facts', ['extract', 'certname', %w[= name big]]]]

      expect(nodes(selected, 'nodes')).to eq(%w[db1])
      expect(nodes(from, 'nodes')).to eq(%w[db1])
    end

    it 'compares several fields' do
      contents = ['and', ['~>', 'path', ['up.*']], ['<', 'value', 100]]
      query = ['in', %w[certname name], ['extract', %w[certname name], ['select_fact_contents', contents]]]

      expect(rows('facts', query).map { |row| row.values_at('certname', 'name') }).to eq([%w[db1 uptime_seconds]])
    end

    it 'takes the first rows of a query' do
      last = ['from', 'reports', %w[extract certname], ['order_by', [%w[start_time desc]]], ['limit', 1]]

      expect(nodes(['in', 'certname', last], 'nodes')).to eq(%w[db1])
    end

    it 'refuses other arguments' do
      expect { rows('nodes', %w[in certname web1]) }.to be_refused(/queries must contain at least one operator/)
      expect { rows('nodes', ['in', 'certname', %w[array web1]]) }
        .to be_refused('Operator array requires a vector argument')
      expect { rows('nodes', ['in', 'certname', ['extract', 'certname', ['select_cars', %w[= name x]]]]) }
        .to be_refused("Invalid entity 'cars' in query")
    end
  end

  describe 'subquery' do
    it 'relates entities by the name of the node' do
      nginx = ['and', %w[= type Class], %w[= title Nginx]]
      expect(nodes(['subquery', 'resources', nginx], 'nodes')).to eq(%w[web1 web2])
    end

    it 'refuses values of events everywhere but in an answer' do
      row = rows('events', ['extract', %w[old_value new_value], %w[= resource_type User]]).first
      expect(row).to eq('old_value' => ['a'], 'new_value' => %w[a ssl])
      [%w[= new_value x], ['null?', 'old_value', true], ['in', 'new_value', ['array', ['x']]],
       ['extract', [%w[function count new_value]]], ['extract', ['new_value'], %w[group_by new_value]],
       ['in', 'resource_title', ['extract', 'new_value', ['select_events']]]].each do |query|
        expect { rows('events', query) }.to be_refused(/_value/)
      end
      expect { rows('events', nil, order_by: '[{"field":"old_value"}]') }.to be_refused(/old_value/)
    end

    it 'refuses logs and events of reports everywhere but in an answer' do
      %w[logs resource_events].each do |name|
        expect(rows('reports', ['extract', [name]]).map(&:keys).uniq).to eq([[name]])
        [['extract', [['function', 'count', name]]], ['extract', [name], ['group_by', name]], ['null?', name, true],
         ['in', 'hash', ['extract', name, ['select_reports']]],
         ['in', 'hash', ['from', 'reports', ['extract', name]]]].each do |query|
          expect { rows('reports', query) }.to be_refused(/'#{name}'/)
        end
        expect { rows('reports', nil, order_by: %([{"field":"#{name}"}])) }.to be_refused(/'#{name}'/)
      end
    end

    it 'relates events to their report, and the contents of a fact to the fact' do
      reports = rows('reports', ['subquery', 'events', %w[= status failure]])
      expect(reports.map { |row| row['status'] }).to eq(%w[failed])
      debian = ['and', ['=', 'path', %w[os family]], %w[= value Debian]]
      expect(rows('facts', ['subquery', 'fact_contents', debian]).map { |row| row['name'] }).to eq(%w[os])
    end

    it 'relates environments and producers by their names' do
      expect(rows('environments', ['subquery', 'facts', %w[= name big]])).to eq([{ 'name' => 'testing' }])
      expect(nodes(['subquery', 'producers', %w[= name puppet2]], 'catalogs')).to eq(%w[db1])
    end

    it 'refuses entities that do not relate' do
      expect { rows('nodes', ['subquery', 'producers', %w[= name puppet1]]) }
        .to be_refused("No implicit relationship for entity 'producers'")
    end
  end

  describe 'extract' do
    it 'answers with some members, and with values inside members' do
      query = ['extract', ['certname', 'facts.os.family'], %w[~ certname 1$]]

      expect(rows('inventory', query)).to contain_exactly({ 'certname' => 'web1', 'facts.os.family' => 'Debian' },
                                                          { 'certname' => 'db1', 'facts.os.family' => 'windows' })
    end

    # Integers that got too large were an error, and a text with infinity in an answer is no JSON.
    it 'adds up the largest integers, and takes no text for infinity' do
      sum = lambda do |*values|
        tables.execute('SELECT finite(exact_sum(value)) FROM json_each(?)', [JSON.generate(values)]).dig(0, 0)
      end
      expect([sum.call(2**61, 2**61, -1), sum.call(2**62, 2**62), sum.call(1.5, 1)]).to eq([(2**62) - 1, 2.0**63, 2.5])
      expect([sum.call, sum.call(nil), sum.call(1e308, 1e308)]).to eq([nil, nil, nil])
      expect(tables.execute("SELECT number('1e999'), number('1e99')").first.to_a).to eq([nil, 1e99])
    end

    it 'counts, adds up, and finds extremes' do
      uptime = ->(name) { rows('facts', ['extract', [['function', name, 'value']], %w[= name uptime_seconds]]).first }

      expect(uptime.call('sum')).to eq('sum' => 95_012.5)
      expect(uptime.call('avg')['avg']).to be_within(0.001).of(31_670.833)
      expect([uptime.call('min'), uptime.call('max')]).to eq([{ 'min' => 12.5 }, { 'max' => 90_000 }])
      expect(rows('nodes', ['extract', [%w[function count]]])).to eq([{ 'count' => 5 }])
      expect(rows('nodes', ['extract', [%w[function count report_timestamp]]])).to eq([{ 'count' => 3 }])
    end

    it 'groups rows' do
      query = ['extract', [%w[function count], 'value'], %w[= name kernel], %w[group_by value]]

      expect(rows('facts', query)).to contain_exactly({ 'count' => 3, 'value' => 'Linux' },
                                                      { 'count' => 1, 'value' => 'windows' })
    end

    it 'refuses a member that differs within a group' do
      expect { rows('nodes', ['extract', [%w[function count], 'certname']]) }
        .to be_refused('"certname" must be in group_by, or in an aggregate function')
    end

    it 'names unknown members' do
      expect { rows('producers', ['extract', %w[name color]]) }
        .to be_refused("Can't extract unknown 'producers' field 'color'. Acceptable fields are 'name'")
    end
  end

  describe 'from' do
    it 'names the entity, and can sort and limit' do
      query = ['from', 'nodes', %w[extract certname], ['order_by', [%w[certname desc]]], ['limit', 2], ['offset', 1]]

      expect(rows(nil, query)).to eq([{ 'certname' => 'web1' }, { 'certname' => 'facts-only' }])
    end

    it 'refuses other forms' do
      expect { rows(nil, %w[= certname web1]) }.to be_refused(/Your initial query must be of the form/)
      expect { rows(nil, ['from', 'nodes', ['limit', 1], ['limit', 2]]) }
        .to be_refused("Multiple 'limit' clauses are not permitted")
      expect { rows(nil, %w[from cars]) }.to be_refused("Invalid entity 'cars' in query")
    end
  end

  describe 'inactive nodes' do
    it 'are left out unless a query says otherwise' do
      expect(nodes(%w[~ certname .], 'nodes')).not_to include('old1')
      expect(nodes(%w[= node_state any], 'nodes')).to include('old1', 'web1')
      expect(nodes(%w[= node_state inactive], 'nodes')).to eq(%w[old1])
      expect(nodes(['=', %w[node active], false], 'facts').uniq).to eq(%w[old1])
      expect(nodes(['or', %w[= node_state inactive], %w[= certname web1]], 'nodes')).to eq(%w[old1 web1])
    end

    # Such a count looks at no node.
    it 'are left out of counts' do
      count = ->(condition) { rows('resources', ['extract', [%w[function count]], condition]).first['count'] }
      expect([%w[= title Nginx], %w[= type Host]].map(&count)).to eq([%w[= title Nginx], %w[= type Host]]
        .map { |condition| nodes(condition, 'resources').length })
      expect(count.call(['and', %w[= title Nginx], %w[= node_state any]])).to eq(count.call(%w[= title Nginx]) + 1)
      expect(rows(nil, ['from', 'events', ['extract', [%w[function count]]]]).first['count'])
        .to eq(rows(nil, %w[from events]).length)
    end

    # A value brought them back.
    it 'are left out if a value looks like a query about them' do
      [['in', 'certname', ['array', %w[x node_state]]], ['=', 'facts.x', %w[= node_state any]]].each do |condition|
        expect(nodes(['or', %w[~ certname 1], condition])).to eq(%w[db1 web1])
      end
    end

    it 'are not left out of the paths of catalogs, reports and events, but of queries with from, as in PuppetDB' do
      %w[catalogs reports events].each do |entity|
        expect(nodes(%w[~ certname .], entity)).to include('old1')
        expect(rows(nil, ['from', entity, %w[extract certname]])).not_to include('certname' => 'old1')
      end
    end
  end

  it 'bounds the depth and the size of a query' do
    deep = 100.times.reduce(%w[= certname web1]) { |query, _| ['not', query] }
    expect { rows('nodes', deep) }.to be_refused(/nested at most/)
    expect { rows('nodes', ['in', 'certname', ['array', ['x'] * 30_000]]) }.to be_refused(/A query has at most/)
    expect { rows('nodes', ['=', %w[fact x], Float::INFINITY]) }.to be_refused(/out of range/)
    expect { rows('nodes', ['=', 'certname', "\xff"]) }.to be_refused(/not UTF-8/)
  end
end
