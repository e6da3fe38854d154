# frozen_string_literal: true

module Simpkv
  module Server
    class Console < Roda
      module Rules
        # The outcome of an inspection, in words.
        class Outcome
          # - `outcome`: whether the rule matched
          # - `details`: lines
          Row = Struct.new(:uuid, :title, :phase, :outcome, :details)
          # Characters of a line.
          LINE = 600
          private_constant :LINE

          KNOWN = { 'declared' => 'The node has a declared record.',
                    'discovered' => 'The node has no declared record: discovery would declare the one below.',
                    'unknown' => 'The node has no declared record.' }.freeze
          private_constant :KNOWN

          # @return [Hash, nil] the effective record; nil if the node gets none
          attr_reader :record

          # @return [String] the certname
          attr_reader :name

          # @param data [Hash] of the API
          def initialize(data)
            @data = data
            @name, @record = data.values_at('name', 'record')
          end

          # @return [Boolean] whether the node gets a catalog
          def accepted?
            !@record.nil?
          end

          # @return [String]
          def verdict
            rule = @data['failed'] || @data['error']
            return "The rules accept the node. #{KNOWN.fetch(@data['known'])}" unless rule

            named = Inspection::Explanation.named(rule)
            return ["The node is refused by the #{named}", rule['msg']].compact.join(': ') if @data['failed']
            return "The #{named} cannot be applied. It is sensitive, so the reason is not shown" if rule['sensitive']

            "The #{[named, rule['place'], rule['message']].compact.join(': ')}. It cannot be applied"
          end

          # @return [Array<Row>] the rules, in the order in which they ran
          def rules
            @data['rules'].map do |rule|
              title = rule['description'].to_s.empty? ? rule['uuid'] : rule['description']
              Row.new(rule['uuid'], title, rule['phase'], Inspection::Explanation.outcome(rule),
                      Inspection::Explanation.details(rule).map { |line| shortened(line) })
            end
          end

          # @return [Array<String>]
          def effects
            @data['effects'].map { |effect| shortened(Inspection::Explanation.effect(effect)) }
          end

          private

          def shortened(line)
            line.length > LINE ? "#{line[0, LINE]}… (#{line.length} characters)" : line
          end
        end
      end
    end
  end
end
