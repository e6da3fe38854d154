# frozen_string_literal: true

require 'json'
require_relative '../support/cases'

# The cases of inspection rules, which ext/core/test/rules/test_rules.c reads too. A line has
#   name, rules, actions (names of a site's actions), and
#   error     a part of the message with which the rules are refused, or
#   input     of the inspection, and
#   output    members of its output; null is a member that is not there
#   reports   members of output.error; message is a part of the message
#   lacks     texts that neither the output nor the message contains
RSpec.describe 'Inspection rules' do
  # Integers and doubles differ.
  def expect_same(value, expected, name)
    expect(value).to(satisfy { value.eql?(expected) }, "#{name}: expected #{expected.inspect}, got #{value.inspect}")
  end

  def expect_error(error, reports)
    expect(error).to be_a(Hash)
    expect(error['message']).to include(reports['message']) if reports['message']
    reports.each { |name, value| expect_same(error[name], value, "error.#{name}") unless name == 'message' }
  end

  def inspect_node(example)
    rules = Simpkv::Native::Rules.new(JSON.generate(example.slice('rules', 'actions')))
    rules.inspect_node(JSON.generate(example.fetch('input')))
  end

  Cases.read_json('rules.jsonl').each do |example|
    it example.fetch('name') do
      if example.key?('error')
        expect { Simpkv::Native::Rules.new(JSON.generate(example.slice('rules', 'actions'))) }
          .to raise_error(Simpkv::InvalidError) { |error|
            expect(error.message).to include(example['error'])
            expect(error.message).not_to include(*example['lacks']) if example.key?('lacks')
          }
      else
        text = inspect_node(example)
        expect(text).not_to include(*example['lacks']) if example.key?('lacks')
        output = JSON.parse(text)
        expect_error(output['error'], example['reports']) if example.key?('reports')
        example.fetch('output', {}).each { |name, value| expect_same(output[name], value, name) }
      end
    end
  end
end
