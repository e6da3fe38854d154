# frozen_string_literal: true

require 'simpkv/query/pql'
require_relative '../support/pql_cases'

RSpec.describe Simpkv::Query::Pql do
  # @return [Array] the AST
  def parse(text)
    described_class.parse(text)
  end

  # @return [Array] the condition of a query for nodes
  def condition(text)
    parse("nodes { #{text} }").fetch(2)
  end

  # @return [Matcher] the error at this number of characters
  def refuse_at(place, message = nil)
    raise_error(Simpkv::Query::InvalidError, message) { |error| expect(error.place).to eq(place) }
  end

  # PuppetDB takes them in an AST only.
  it 'makes the ASTs that PuppetDB makes, and refuses what it refuses, but for integers of more than 64 bits' do
    cases = PqlCases.all.reject { |text, ast| ast.nil? && text.scan(/-?\d+/).any? { |part| part.to_i.bit_length > 63 } }
    different = cases.reject do |text, ast|
      PqlCases.grouped(parse(text)).eql?(ast)
    rescue Simpkv::Query::InvalidError
      ast.nil?
    end

    expect(different).to eq({})
    expect(PqlCases.all.values.partition(&:nil?)).to match([have_attributes(length: be > 200)] * 2)
  end

  describe 'an entity' do
    it 'is what the query returns' do
      expect(parse('nodes {}')).to eq(%w[from nodes])
    end

    it 'has other names than PuppetDB has paths' do
      expect(parse('fact_contents { }')).to eq(%w[from fact_contents])
      expect { parse('fact-contents { }') }.to refuse_at(0)
    end
  end

  describe 'fields' do
    it 'are the columns of the result' do
      expect(parse('nodes[certname, report_timestamp] { }'))
        .to eq(['from', 'nodes', ['extract', %w[certname report_timestamp]]])
    end

    it 'can have dots, with names in double quotes, indexes and patterns' do
      fields = ['facts.os.family', 'facts."with dots"', 'facts.disks[0].size', 'facts.match("eth\\d")', 'trusted.role']
      expect(parse("inventory[#{fields.join(' , ')} ] { }").dig(2, 1)).to eq(fields)
    end

    it 'can be functions' do
      expect(parse("reports[count(), max(end_time), to_string(end_time, 'DAY')] { }").dig(2, 1))
        .to eq([%w[function count], %w[function max end_time], %w[function to_string end_time DAY]])
    end

    it 'can be none' do
      expect(parse('nodes[] { }')).to eq(['from', 'nodes', ['extract', []]])
    end
  end

  describe 'a condition' do
    it 'compares a field with a value' do
      %w[= ~ > < >= <=].each { |operator| expect(condition(%(a #{operator} "1"))).to eq([operator, 'a', '1']) }
    end

    it 'is negated by ! before it or before its operator' do
      expect(condition('!a = 1')).to eq(['not', ['=', 'a', 1]])
      expect(condition('a != 1')).to eq(['not', ['=', 'a', 1]])
      expect(condition('a !~ "x"')).to eq(['not', ['~', 'a', 'x']])
      expect(condition('!!(a = 1 or b = 2)')).to eq(['not', ['not', ['or', ['=', 'a', 1], ['=', 'b', 2]]]])
    end

    it 'can be that a field is null, or is not' do
      expect(condition('deactivated is null')).to eq(['null?', 'deactivated', true])
      expect(condition('deactivated is not null')).to eq(['null?', 'deactivated', false])
    end

    it 'compares a path with patterns' do
      expect(condition('path ~> ["os", ".*"]')).to eq(['~>', 'path', ['os', '.*']])
    end

    it 'can be that a value is in a list' do
      expect(condition('a in ["x", 1, true]')).to eq(['in', 'a', ['array', ['x', 1, true]]])
      expect(condition('[a, b] in [["x", 1], ["y", 2]]')).to eq(['in', %w[a b], ['array', [['x', 1], ['y', 2]]]])
    end

    it 'can be that a value is in the result of another query' do
      expect(condition('certname in facts[certname] { name = "kernel" limit 5 }'))
        .to eq(['in', 'certname', ['from', 'facts', ['extract', ['certname'], ['=', 'name', 'kernel']], ['limit', 5]]])
      expect(condition('[a, b] in facts[certname, value] { }'))
        .to eq(['in', %w[a b], ['from', 'facts', ['extract', %w[certname value]]]])
    end

    it 'can be about what another entity has for the same node' do
      expect(condition('resources { type = "Package" and title = "nginx" }'))
        .to eq(['subquery', 'resources', ['and', ['=', 'type', 'Package'], ['=', 'title', 'nginx']]])
    end
  end

  describe 'and, or' do
    it 'have this order of precedence' do
      expect(condition('a = 1 or b = 2 and !c = 3'))
        .to eq(['or', ['=', 'a', 1], ['and', ['=', 'b', 2], ['not', ['=', 'c', 3]]]])
    end

    it 'are grouped by parentheses' do
      expect(condition('(a = 1 or b = 2) and ((c = 3))'))
        .to eq(['and', ['or', ['=', 'a', 1], ['=', 'b', 2]], ['=', 'c', 3]])
    end

    it 'make one list of a chain' do
      terms = Array.new(2000) { |number| "a = #{number}" }
      expect(condition(terms.join(' or '))).to eq(['or', *Array.new(2000) { |number| ['=', 'a', number] }])
    end

    it 'need spaces' do
      expect { condition('(a = 1)and b = 2') }.to refuse_at(15)
    end
  end

  describe 'values' do
    # @return [Object]
    def value(text)
      condition("a = #{text}").fetch(2)
    end

    it 'can be texts in single quotes, with no escape but that of the quote' do
      expect(value(%q('it\'s a "\d"'))).to eq(%q(it's a "\d"))
      expect(value("''")).to eq('')
    end

    it 'can be texts in double quotes, with the escapes of JSON' do
      expect(value(%q("\"it's\" \\\\ \/ \b\f\n\r\t"))).to eq(%("it's" \\ / \b\f\n\r\t))
      expect(value('"\u00e9 \ud83d\ude00"')).to eq("\u00e9 \u{1f600}")
      expect(value('"\\\\u0041"')).to eq('\u0041')
    end

    it 'can go over several lines' do
      expect(value(%("a\nb"))).to eq("a\nb")
    end

    it 'can be numbers' do
      numbers = { '0' => 0, '-5' => -5, '007' => 7, '2.50' => 2.5, '1.5E3' => 1500.0, '-1.5e-3' => -0.0015,
                  '9223372036854775807' => (2**63) - 1, '-9223372036854775808' => -(2**63),
                  '9223372036854775808' => 2**63, '-1180591620717411303424' => -(2**70) }
      expect(numbers.keys.map { |text| value(text) }).to eql(numbers.values)
    end

    it 'can be booleans and lists' do
      expect(value('true')).to be(true)
      expect(value('false')).to be(false)
      expect(value('[1, ["x", [true]]]')).to eq([1, ['x', [true]]])
    end

    it 'cannot be numbers that no float can be, or half of a character' do
      expect { value('[1, 1.0E999]') }.to refuse_at(16, /number is too large/)
      expect { value('"x\ud83d"') }.to refuse_at(13, /half of a surrogate pair/)
    end
  end

  describe 'the end of a query' do
    it 'groups rows' do
      expect(parse('facts[name, count()] { value = 1 group by name, to_string(value, "x") }'))
        .to eq(['from', 'facts', ['extract', ['name', %w[function count]], ['=', 'value', 1],
                                  ['group_by', 'name', %w[function to_string value x]]]])
    end

    it 'sorts and pages rows, in the order of the text' do
      expect(parse('nodes[certname] { a = 1 order by a desc, b, c asc limit 5 offset 10 }'))
        .to eq(['from', 'nodes', ['extract', ['certname'], ['=', 'a', 1]],
                ['order_by', [%w[a desc], 'b', %w[c asc]]], ['limit', 5], ['offset', 10]])
      expect(parse('nodes { limit 5 order by a }')).to eq(['from', 'nodes', ['limit', 5], ['order_by', ['a']]])
    end
  end

  it 'lets words of the language be fields' do
    expect(parse('nodes[in, count, limit] { order = 1 and limit is null or is in ["x"] order by group }'))
      .to eq(['from', 'nodes',
              ['extract', %w[in count limit],
               ['or', ['and', ['=', 'order', 1], ['null?', 'limit', true]], ['in', 'is', ['array', ['x']]]]],
              ['order_by', ['group']]])
  end

  it 'ignores spaces and ends of lines' do
    expect(parse("\n nodes\t[ certname ]\n{\n  a\n=\n1\n  and b=2\n}\n")).to eq(parse('nodes[certname]{a=1 and b=2}'))
  end

  describe 'a mistake' do
    it 'has its line and column, and what was expected there' do
      expect { parse("nodes {\n  certname = \"x\"\n  limit five\n}") }
        .to refuse_at(33, 'PQL parse error at line 3, column 9: expected a number without a sign')
      expect { parse('nodez { }') }.to refuse_at(0, /column 1: expected an entity \(catalogs, .*, resources\)\z/)
      expect { parse('nodes { a == 1 }') }
        .to refuse_at(11, /expected a text in quotes, a number, true, false or a list in \[ \]\z/)
      expect { parse('nodes { a 1 }') }.to refuse_at(10, /expected an operator \(=, !=, .*\)\z/)
      expect { parse('nodes { a = 1 && b = 2 }') }
        .to refuse_at(14, /expected "and", "or", "group by", "order by", "limit", "offset" or "}"\z/)
      expect { parse('nodes { } x') }.to refuse_at(10, /expected the end of the query\z/)
    end

    it 'has a hint, if the text looks like that of another language' do
      expect { parse('nodes { not a = 1 }') }.to refuse_at(12, /expected an operator .*; "!" negates a condition\z/)
      expect { parse('inventory[max(facts.a)] { }') }
        .to refuse_at(22, /expected "," or "\)"; a field with dots ends at a space\z/)
      expect { parse('inventory { order by facts.a}') }.to refuse_at(29, /but the text ends; a field with .* a space\z/)
    end

    it 'can be where the text ends' do
      expect { parse('') }.to refuse_at(0, /expected an entity .*, but the text ends\z/)
      expect { parse('nodes { certname = "x }') }.to refuse_at(23, /expected the closing ", but the text ends\z/)
    end

    it 'has its place in characters' do
      expect { parse("nodes { a = \"\u{1f600}\u00e9\n\" b }") }.to refuse_at(18, /line 2, column 3:/)
    end

    it 'can be in an escape' do
      expect { parse('nodes { a = "\d+" }') }.to refuse_at(13, /expected one of the escapes/)
    end

    it 'can be the encoding' do
      expect { parse("nodes { a = '\xff' }") }.to refuse_at(13, /not valid UTF-8/)
      expect { parse("nodes { a = '\xff' }".b) }.to refuse_at(0, /not valid UTF-8/)
      expect(parse("nodes { a = '\xe9' }".dup.force_encoding('ISO-8859-1')).dig(2, 2)).to eq("\u00e9")
    end

    it 'shows no value of the query' do
      expect { parse('nodes { a = "secret" b = "secret" }') }.to refuse_at(21, /\A(?!.*secret)/)
    end
  end

  describe 'bounds' do
    # The opening and closing parts of a level.
    levels = { 'parentheses' => ['(b=1 or ', ')'], 'negations' => ['!', ''], 'subqueries' => ['facts{', '}'],
               'subqueries with in' => ['b in facts[b]{b=1 and ', '}'] }

    # @return [String] a query with so many levels
    def nested(opening, closing, number)
      "nodes { #{opening * number}a=1#{closing * number} }"
    end

    # @return [Integer] how often the parser looks for a token, in a text that may be wrong
    def steps(text)
      steps = 0
      trace = TracePoint.new(:call) { steps += 1 }
      trace.enable(target: described_class::Text.instance_method(:take)) do
        parse(text)
      rescue Simpkv::Query::InvalidError => e
        expect(e.message).to start_with('PQL parse error')
      end
      steps
    end

    it 'refuse a longer text' do
      text = "nodes { a = '' }".ljust(described_class::MAX_BYTES)
      expect(parse(text)).to eq(['from', 'nodes', ['=', 'a', '']])
      expect { parse("#{text} ") }.to refuse_at(65_536, 'a query can have at most 65536 bytes')
    end

    levels.each do |name, (opening, closing)|
      it "allow 50 levels of #{name}, in any thread" do
        text = nested(opening, closing, 50)
        expect(Thread.new { parse(text) }.value).to start_with('from', 'nodes')
        [nested(opening, closing, 51), "nodes { #{opening * 1000}"].each do |deeper|
          expect { parse(deeper) }.to raise_error(Simpkv::Query::InvalidError, /at most 50 levels deep/)
        end
      end
    end

    it 'allow 50 levels of lists' do
      expect(condition("a = #{'[' * 50}1#{']' * 50}").flatten).to eq(['=', 'a', 1])
      expect { condition("a = #{'[' * 51}1#{']' * 51}") }.to refuse_at(63, /at most 50 levels deep/)
    end

    it 'refuse a query that has no room on the stack, such as the small one of a fiber' do
      outcome = Fiber.new do
        parse(nested('b in facts[b]{', '}', 50))
      rescue Simpkv::Query::InvalidError => e
        e.message
      end
      expect(outcome.resume).to match(/nests .* too deeply/)
    end

    it 'make steps that grow with the length of a chain' do
      short, long = [200, 2000].map { |number| steps("nodes { #{(['a = 1 and b = 2'] * number).join(' or ')} }") }
      expect(long).to be_between(9 * short, 10 * short)
    end

    it 'make steps that grow with the depth, also where the text is wrong' do
      levels.each_value do |opening, closing|
        [closing, ''].each do |ending|
          short, long = [5, 50].map { |number| steps(nested(opening, ending, number)) }
          expect(long).to be_between(2 * short, 10 * short)
        end
      end
    end
  end
end
