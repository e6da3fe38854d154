# frozen_string_literal: true

module Simpkv
  module Inspection
    class Rules
      # Refuses a change after which the rules exceed a limit of all rules together: no node could be inspected.
      module Total
        class << self
          # @param former [Array<Hash>] all rules, built-in ones included
          # @param changed [Array<Hash>] those that are to be stored, with all fields
          # @param site_actions [Array<String>] the names of the site's actions
          # @return [void]
          # @raise [TooLargeError] the message names the limit
          def check(former, changed, site_actions)
            return if changed.empty?

            rules = (former + changed).to_h { |rule| [rule['uuid'], rule] }.values
            Definition.check_number(rules.length) if rules.length > former.length
            why = fault(rules, site_actions)
            # The change is not the reason if the former rules cannot be compiled, either.
            raise TooLargeError, why if why && fault(former, site_actions).nil?
          end

          # @return [String, nil] why the rules, each of which is valid, cannot be compiled; nil if they can
          def fault(rules, site_actions)
            Definition.compile(rules, site_actions)
            nil
          rescue InvalidError, TooLargeError => e
            # The core has stopped at some rule, and names it.
            e.message[/the regular expressions of all rules .*/] || e.message
          end
        end
      end
    end
  end
end
