# frozen_string_literal: true

require 'json'

# Texts of PQL, and the ASTs that PuppetDB 7.12 makes of them: pql_cases.jsonl has an object with `text` and `ast` a
# line. `ast` is null if PuppetDB refuses the text. The texts are ours; spec/puppetdb/pql_spec.rb checks the ASTs, and
# shows that of a new text.
module PqlCases
  FILE = File.join(__dir__, 'pql_cases.jsonl')

  # PuppetDB refuses a text with one of these, in its parser or while it makes an AST from what that returns.
  REFUSED = Regexp.union(': 400 PQL parse error', ': 400 For input string', ': 400 Wrong number of args',
                         ': 500 Unrecognized character escape', ': 500 Unexpected character').freeze
  private_constant :FILE, :REFUSED

  class << self
    # @return [Hash{String => Array, nil}] ASTs by text
    def all
      File.readlines(FILE, encoding: 'UTF-8').to_h { |line| JSON.parse(line).values_at('text', 'ast') }
    end

    # @param client [PuppetDB::Client]
    # @return [Array, String, nil] the AST; nil if PuppetDB refuses the text; its response if a query that it can read
    #   is wrong for another reason, such as an unknown field
    def ask(client, text)
      client.ast(text)
    rescue PuppetDB::Client::Refused => e
      REFUSED.match?(e.message) ? nil : e.message
    end

    # PuppetDB makes lists of three conditions at most from a longer chain.
    #
    # @param ast [Object]
    # @return [Object] the AST with its chains as PuppetDB has them
    def grouped(ast)
      return ast unless ast.is_a?(Array)

      parts = ast.map { |part| grouped(part) }
      %w[and or].include?(parts.first) ? chain(*parts) : parts
    end

    private

    def chain(operator, *terms)
      return terms.first if terms.one?
      return [operator, *terms] if terms.length <= 3

      case terms.length % 3
      when 0 then [operator, *terms.first(2), chain(operator, *terms.drop(2))]
      when 1 then [operator, terms.first, [operator, *terms[1..2]], chain(operator, *terms.drop(3))]
      else [operator, terms.first, chain(operator, *terms.drop(1))]
      end
    end
  end
end
