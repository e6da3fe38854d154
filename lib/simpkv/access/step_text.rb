# frozen_string_literal: true

module Simpkv
  module Access
    # The lines for people about the steps of a plan.
    module StepText
      # By the act; %s stands for the user, role or folder.
      LINES = {
        'create' => 'create %s', 'password' => 'set the password of %s', 'adopt' => 'keep %s, made by an earlier apply',
        'keep' => 'leave %s as it is: it existed before', 'folder' => 'create %s', 'delete' => 'delete %s',
        'forget' => 'forget %s'
      }.freeze
      private_constant :LINES

      class << self
        # @param step [Plan::Step]
        # @return [Array<String>]
        def lines(step)
          case step.act
          when 'rules' then rule_lines(step)
          when 'members' then changes(step) { |sign, dn| "#{sign} member of role #{step.name}: #{dn}" }
          else [format(LINES.fetch(step.act), subject(step))]
          end
        end

        private

        def rule_lines(step)
          return changes(step) { |sign, rule| "#{sign} rule #{rule}" } unless step.data[:by_hand]

          ['# The identity may not read cn=config. Let an administrator apply this, to the database of the base entry:',
           *step.data[:ldif].lines.map(&:chomp), '']
        end

        def changes(step)
          { '-' => :delete, '+' => :add }.flat_map { |sign, kind| step.data[kind].map { |text| yield(sign, text) } }
        end

        def subject(step)
          step.act == 'folder' ? "folder #{step.name}" : "#{step.section.chomp('s')} #{step.name}"
        end
      end
    end
  end
end
