# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/server/console/rules/rule_text'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # What an import would do, as the API foresees it.
        class Preview
          # - `outcome`: created, updated or unchanged
          # - `changes`: the name of each field that differs, and its value before and after in JSON
          Row = Struct.new(:outcome, :uuid, :title, :changes)
          # Characters of a value.
          VALUE = 600
          NAMES = %w[created updated unchanged].freeze
          private_constant :VALUE, :NAMES

          # @param outcomes [Array<Hash>] of the API
          # @param stored [Array<Hash>] the rules of the API, with all fields
          def initialize(outcomes, stored)
            @outcomes = outcomes
            @stored = stored.to_h { |rule| [rule['uuid'], rule] }
          end

          # @return [Array<Row>] the rules that would be created or updated
          def rows
            @outcomes.reject { |each| each['outcome'] == 'unchanged' }.map do |each|
              rule = each['rule']
              title = rule['description'].to_s.empty? ? rule['uuid'] : rule['description']
              Row.new(each['outcome'], rule['uuid'], title, each['outcome'] == 'updated' ? changes(rule) : [])
            end
          end

          # @return [Boolean] whether the import would change something
          def changes?
            @outcomes.any? { |each| each['outcome'] != 'unchanged' }
          end

          # @return [String] how many rules have each outcome
          def summary
            counts = @outcomes.map { |each| each['outcome'] }.tally
            NAMES.map { |name| "#{counts.fetch(name, 0)} #{name}" }.join(', ')
          end

          # @return [String] differs after another change of a rule that the import concerns
          def digest
            seen = @outcomes.map do |each|
              uuid = each['rule']['uuid']
              # The UUID of a new rule may be random.
              [each['outcome'], *([uuid, last_change(uuid)] unless each['outcome'] == 'created')]
            end
            Digest::SHA256.hexdigest(Native.generate(seen))
          end

          private

          def last_change(uuid)
            @stored[uuid] && Inspection::Rules::Definition.last_change(@stored[uuid])
          end

          def changes(rule)
            old = @stored[rule['uuid']] || {}
            (RuleText::FIELDS - %w[uuid]).reject { |name| old[name] == rule[name] }.map do |name|
              [name, shortened(old[name]), shortened(rule[name])]
            end
          end

          def shortened(value)
            text = Native.generate(value)
            text.length > VALUE ? "#{text[0, VALUE]}…" : text
          end
        end
      end
    end
  end
end
