# frozen_string_literal: true

require 'json'
require 'yaml'
require 'simpkv/document/plain_yaml'
require 'simpkv/server/console/section'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # Rules, facts and records as people write them: YAML or JSON. The text has bounds, since it is read before the
        # API has checked it.
        module RuleText
          class << self
            # @param text [String]
            # @param what [String] begins the message
            # @return [Object] plain data
            # @raise [Problem] 400; the message quotes nothing of the text
            def parse(text, what)
              if text.bytesize > BYTES_MAX
                raise Problem.new(400, "#{what}: a page takes at most #{BYTES_MAX >> 10} KB of text, and this has " \
                                       "#{text.bytesize} bytes: give the command `simpkv rule` the file")
              end

              PlainYaml.parse(text, strict: true, bounded: true)
            rescue MalformedError => e
              raise Problem.new(400, "#{what}: #{e.message}"), cause: nil
            end

            # @param text [String]
            # @return [Hash{String => Object}]
            # @raise [Problem]
            def facts(text)
              Inspection::GivenFacts.of(parse(text, 'facts')) || raise(Problem.new(400, 'facts: they must be a Hash'))
            end

            # @param text [String] a rule, or a list of rules
            # @return [Array] the list; empty for no text
            # @raise [Problem]
            def rules(text)
              return [] if text.strip.empty?

              data = parse(text, 'rules')
              data.is_a?(Hash) ? [data] : data
            end

            # @param text [String]
            # @return [Hash] the fields of a rule
            # @raise [Problem]
            def rule(text)
              data = parse(text, 'rule')
              data.is_a?(Hash) ? data : raise(Problem.new(400, 'rule: it must be a Hash, with the names of fields'))
            end

            # @param data [Object] plain data
            # @return [String] YAML; JSON if {parse} would find something else in the YAML
            def yaml(data)
              text = YAML.dump(data, line_width: -1).delete_prefix("---\n")
              same?(text, data) ? text : "#{JSON.pretty_generate(data)}\n"
            end

            # @param rule [Hash] of the API
            # @return [Hash] the fields that a file of rules has. Those that nobody sees are left out
            def fields(rule)
              rule.slice(*FIELDS).compact
            end

            private

            def same?(text, data)
              PlainYaml.parse(text, strict: true, bounded: true) == data
            rescue MalformedError
              false
            end
          end

          # Bytes of a text. Text of YAML takes much longer to read than the JSON of the API.
          BYTES_MAX = 256 * 1024
          # The fields of a rule that people write, in the order of a file.
          FIELDS = %w[uuid description scope priority phase sensitive conditions actions].freeze
        end
      end
    end
  end
end
