# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    # The base class of the commands for inspection rules. They print no condition and no action of a sensitive rule.
    class RuleCommand < EstateCommand
      # The fields that operators set.
      FIELDS = %w[description scope priority phase sensitive conditions actions].freeze

      # @return [Array<Array(String, String)>] the UUIDs of the rules that an argument may name, and their descriptions
      def rule_ids
        Inspection::Rules.of(estate).list.map { |rule| [rule['uuid'], rule['description']] }
      end

      private

      # The options for the fields of a rule, whose values are then in @fields.
      def define_fields(parser)
        @fields = {}
        { '--description TEXT' => 'up to 255 characters',
          '--scope SCOPE' => 'apply it only to nodes with this inspection scope' }.each do |option, what|
          parser.on(option, what) { |text| @fields[option[/\w+/]] = text }
        end
        parser.on('--priority N', Integer, 'from 0 (the default) to 9999; higher ones run first') do |number|
          @fields['priority'] = number
        end
        phases = Inspection::Rules::Definition::PHASES
        parser.on('--phase PHASE', phases, "#{phases.join(', ')} (the default)") { |name| @fields['phase'] = name }
        parser.on('--[no-]sensitive', 'never show conditions and actions; this cannot be undone') do |sensitive|
          @fields['sensitive'] = sensitive
        end
        define_steps(parser)
      end

      def define_steps(parser)
        { 'conditions' => 'a list in JSON; all must hold', 'actions' => 'a list in JSON' }.each do |name, what|
          parser.on("--#{name} JSON", what) { |text| @fields[name] = Value.parse(text, "--#{name}") }
        end
      end

      # Calls the rules of the estate. The message for a wrong rule begins with its subject instead of the backend.
      #
      # @param subject [String]
      # @param create [Boolean] whether to create the folder of a backend of type file
      # @yieldparam rules [Inspection::Rules]
      def on_rules(subject)
        on_estate { |estate| about(subject) { yield Inspection::Rules.new(estate, site_actions) } }
      end

      # @param subject [String] begins the message for a wrong rule
      def about(subject)
        yield
      rescue InvalidError, TooLargeError, UnencodableError => e
        raise Failure.new("#{subject}: #{Inspection::ActionFiles.usual.explained(e.message)}", Failure.code_for(e))
      end

      # The options for a file of rules that is not brought into a store.
      def define_file(parser)
        parser.on('--built-in', 'the rules of the option built_in') { @built_in = true }
        define_site_actions(parser)
      end

      # @return [Boolean] whether the file is one for the option `built_in`
      def built_in?
        @built_in ? true : false
      end

      # @param uuid [String]
      # @return [Hash] the rule
      # @raise [Failure] there is none
      def rule(uuid)
        on_rules("'#{Output.name(uuid)}'") { |rules| rules.get(uuid) } || no_rule(uuid)
      end

      # @raise [Failure] always
      def no_rule(uuid)
        not_there(uuid, 'there is no rule', rule_ids.map(&:first))
      end

      # @param rule [Hash]
      # @return [String] its UUID, and its description
      def named(rule)
        Output.name(Inspection::Rules::Definition.named(rule))
      end

      # @param rule [Hash] with conditions and actions, unless it is sensitive
      # @return [Array<String>] a line for each field, condition and action
      def lines(rule)
        fields = rule.reject { |name, value| value.nil? || Inspection::Rules::Definition::HIDDEN.include?(name) }
        rows = fields.map { |name, value| ["#{name.tr('_', ' ')}:", shown(value)] }
        rows << ['conditions:', '[redacted]'] << ['actions:', '[redacted]'] if rule['sensitive']
        Output.table(rows + steps(rule, 'conditions') + steps(rule, 'actions'))
      end

      def steps(rule, name)
        (rule[name] || []).each_with_index.map { |step, number| ["#{name}[#{number}]:", shown(step)] }
      end
    end
  end
end
