# frozen_string_literal: true

require 'simpkv/termini'
require 'simpkv/termini/facts_terminus'
require 'simpkv/termini/plain_data'
require 'simpkv/termini/site_actions'

module Simpkv
  module Termini
    # Inspects nodes for the compiler, and carries out the effects of the rules.
    module NodeInspection
      # Puppet's names of the levels of logs that differ.
      LEVELS = { 'error' => :err, 'critical' => :crit }.freeze
      private_constant :LEVELS

      class << self
        # @param estate [Estate]
        # @param certname [String]
        # @param environment [Puppet::Node::Environment] whose modules have the actions of the site
        # @param compiles [Boolean] whether a node whose facts are unknown is refused: its agent could leave them out to
        #   evade the rules
        # @yieldreturn [Puppet::Node::Facts, nil] the facts, if there are rules
        # @return [Hash, nil] the effective record; nil if the node is not inspected, because its facts are unknown,
        #   there are no rules, or the option `supported_interfaces` says so
        # @raise [RefusedError] a rule refuses the node, or cannot be applied
        # @raise [NotFoundError] its facts are unknown
        # @raise [Error]
        def record(estate, certname, environment, compiles: false)
          return unless estate.options['inspection_rules']['supported_interfaces'].match?(interface)

          actions = SiteActions.new(environment)
          inspection = actions.inspection(estate)
          facts = inspection && inventory(certname, yield, needed: compiles && inspection.rules?)
          return unless facts

          outcome = perform(inspection, certname, facts)
          refusal = outcome.refusal
          carry_out(outcome, refusal ? nil : actions)
          refusal ? raise(refusal) : outcome.record
        end

        private

        # @return [Inspection::Inspector::Outcome]
        def perform(inspection, certname, facts)
          inspection.perform(certname, facts) do |write|
            Termini.store("save the inspection of '#{certname}'", write)
          end
        end

        # @return [String] how Puppet runs, as the option `supported_interfaces` names it. Some commands of an operator,
        #   such as `puppet catalog compile`, have the run mode of a server, and a name of their own
        def interface
          case Puppet[:name].to_s
          when 'server', 'master' then 'server'
          when 'apply' then 'apply'
          else 'cli'
          end
        end

        # Only the server knows the trusted facts: an agent can send a fact of this name.
        def inventory(certname, facts, needed:)
          return stored_inventory(certname, needed) unless facts

          trusted = FactsTerminus.trusted(certname)
          values = PlainData.of(facts.values).reject { |name, _| name == 'trusted' }
          trusted ? values.merge('trusted' => trusted) : values
        end

        def stored_inventory(certname, needed)
          stored = FactsTerminus.inventory(certname)
          return stored if stored || !needed

          raise NotFoundError, 'its facts are unknown, and inspection rules need them: an agent sends them at each run'
        end

        # @param actions [SiteActions, nil] nil: logs only, because a rule has refused the node
        def carry_out(outcome, actions)
          rules = outcome.rules.to_h { |rule| [rule['uuid'], rule] }
          outcome.effects.each do |effect|
            rule = rules.fetch(effect['rule'], {})
            next log(effect, rule, outcome.certname) if effect['op'] == 'log'

            actions&.perform(effect['op'], outcome.certname, effect['args'], rule)
          end
        end

        def log(effect, rule, certname)
          level = LEVELS.fetch(effect['level'], effect['level'].to_sym)
          text = effect['sensitive'] ? 'a message that is sensitive' : effect['msg']
          message = "simpkv estate: #{SiteActions.named(rule)} of the node '#{certname}': #{text}"
          Puppet::Util::Log.create(level: level, message: Inspection::Inspector.printable(message))
        end
      end
    end
  end
end
