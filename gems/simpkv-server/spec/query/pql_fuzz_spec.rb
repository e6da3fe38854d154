# frozen_string_literal: true

require 'simpkv/query/pql'
require_relative '../support/pql_cases'

# FUZZ_QUERIES is the number of texts; --seed repeats a run.
RSpec.describe Simpkv::Query::Pql, 'with wrong and random texts' do
  parts = ['and ', ' or ', '!', '(', ')', '[', ']', '{', '}', '"', "'", '\\', '\u', ' ', ',', '.', '=', '~', '~>', '<',
           '<=', ' in ', ' is null', ' is not null', 'limit 5 ', 'offset ', 'order by ', 'group by ', 'asc', 'desc',
           'facts', 'nodes[certname] { ', 'facts.', 'trusted."a b" ', 'match(', 'count', 'true', '1', '-', '1.5', 'E9',
           '?', "\n", "\0", 'to_string(value, "x")', '((((((((((', '!!!!!!!!!!', '[[[[[[[[[[', "\u00e9", "\u{1f600}",
           "\u2028", "\xff"]

  # @return [String] the text with some changes
  def mutate(text, parts, random)
    random.rand(4).times.inject(text.dup) do |mutated, _|
      place = random.rand(mutated.length + 1)
      case random.rand(4)
      when 0 then mutated.insert(place, parts.sample(random: random))
      when 1 then mutated.insert(place, mutated[random.rand(mutated.length + 1), random.rand(20)])
      when 2 then mutated.tap { mutated[place, random.rand(10)] = parts.sample(random: random) }
      else mutated.tap { mutated[place, random.rand(10)] = '' }
      end
    end
  end

  # @return [Array, Simpkv::Query::InvalidError]
  def outcome(text)
    described_class.parse(text)
  rescue Simpkv::Query::InvalidError => e
    e
  end

  it 'returns an AST or says where the mistake is' do
    random = Random.new(RSpec.configuration.seed)
    cases = PqlCases.all.keys
    classes = Array.new(Integer(ENV.fetch('FUZZ_QUERIES', '3000'))) do
      text = mutate(cases.sample(random: random), parts, random)
      text = parts.sample(40, random: random).join if random.rand < 0.1
      result = outcome(text)
      expect(result).to be_a(Array).and(start_with('from')).or(have_attributes(place: be_between(0, text.length))), text
      result.class
    end

    expect(classes.tally.values).to all(be > classes.length / 10)
  end
end
