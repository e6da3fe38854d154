# frozen_string_literal: true

require 'securerandom'
require 'digest/sha1'

module Simpkv
  module Inspection
    class Rules
      # The fields of a rule: their defaults and their checks, except those of the core, which checks conditions and
      # actions.
      module Definition
        # The phases, in the order in which they run.
        PHASES = %w[early preprocess main].freeze

        # The fields, in the order in which they are shown, and the values of absent ones.
        DEFAULTS = { 'uuid' => nil, 'description' => nil, 'scope' => nil, 'priority' => 0, 'phase' => 'main',
                     'sensitive' => false, 'built_in' => nil, 'conditions' => [], 'actions' => nil, 'created_at' => nil,
                     'updated_at' => nil }.freeze

        # The fields that a sensitive rule shows to nobody.
        HIDDEN = %w[conditions actions].freeze

        # The fields that nobody but {Rules} sets.
        ASSIGNED = %w[created_at updated_at].freeze

        # Of stored rules; built-in ones may have others.
        PRIORITIES = (0..9999).freeze
        UUID = /\A\h{8}-\h{4}-\h{4}-\h{4}-\h{12}\z/.freeze
        TIME = /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\z/.freeze

        text = ->(value) { value.nil? || value.is_a?(String) }
        # By field: a lambda that checks a value, and a description of valid values.
        LISTED = {
          'description' => [text, 'a String'], 'scope' => [text, 'a String'],
          'priority' => [->(value) { value.is_a?(Integer) }, 'a whole number'],
          'phase' => [->(value) { PHASES.include?(value) }, PHASES.join(' or ')],
          'sensitive' => [->(value) { [true, false].include?(value) }, 'true or false'],
          'conditions' => [->(value) { value.is_a?(Array) }, 'a list'],
          'actions' => [->(value) { value.is_a?(Array) }, 'a list']
        }.freeze
        private_constant :UUID, :TIME, :LISTED

        # In front of a message of the core.
        PREFIX = /\Arule (\h{8}-[\h-]{27}): /.freeze

        # The part of a place in a rule that has no word of the rule.
        PLACE = /\A(?:conditions|actions)(?:\[\d+\](?:\.(?:op|args|loop|multiple)\b)?(?:\[\d+\])?)?/.freeze
        private_constant :PREFIX, :PLACE

        class << self
          # @param fields [Object] those of a rule, as they were given
          # @return [Hash{String => Object}] in order, with defaults in place of nil. Unknown fields stay
          # @raise [InvalidError] this is no Hash of names
          def complete(fields)
            named = fields.is_a?(Hash) && fields.keys.all?(String)
            raise InvalidError, 'a rule must be a Hash with the names of fields' unless named

            given = fields.compact.reject { |name, _| ASSIGNED.include?(name) }
            given.delete('built_in') if given['built_in'] == false
            given['uuid'] &&= uuid(given['uuid'])
            DEFAULTS.merge(given).compact
          end

          # @param text [Object]
          # @return [String] the UUID in lower case, as in the store
          # @raise [InvalidError]
          def uuid(text)
            return text.downcase if text.is_a?(String) && text.match?(UUID)

            raise InvalidError, 'uuid: it must be a UUID, such as 6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90'
          end

          # @param time [String, nil] that of a change
          # @raise [InvalidError] this is no such time
          def check_time(time)
            return if time.nil? || (time.is_a?(String) && time.match?(TIME))

            raise InvalidError, 'updated_at: it must be the time of the last change, such as ' \
                                '2026-11-23T08:15:00.123456Z'
          end

          # @return [String] a UUID (version 5) that depends on the texts only
          def derived_uuid(*texts)
            bytes = Digest::SHA1.digest(['simpkv inspection rule', *texts].join("\0")).bytes.first(16)
            bytes[6] = (bytes[6] & 0x0f) | 0x50
            bytes[8] = (bytes[8] & 0x3f) | 0x80
            bytes.pack('C*').unpack1('H*').unpack('a8a4a4a4a12').join('-')
          end

          # Checks a rule that is to be stored.
          #
          # @param rule [Hash{String => Object}] the result of {complete}
          # @param site_actions [Array<String>] the names of actions of the site
          # @param terse [Boolean] whether the message is terse for a sensitive rule: false for the author of all of it
          # @return [Hash] the same
          # @raise [InvalidError, TooLargeError, UnencodableError] the message has the place, such as
          #   `actions[1].args.path: ...`, and quotes no value
          def check(rule, site_actions, terse: true)
            check_owner(rule)
            compiled(rule, site_actions, terse: terse)
          end

          # Checks any rule.
          #
          # @param rule [Hash{String => Object}]
          # @param site_actions [Array<String>]
          # @param terse [Boolean] whether the message is terse for a sensitive rule
          # @return [Hash] the same
          # @raise [InvalidError, TooLargeError, UnencodableError] see {check}
          def compiled(rule, site_actions, terse: true)
            check_numbers(rule)
            compile([rule], site_actions)
            rule
          rescue InvalidError, TooLargeError, UnencodableError => e
            message = e.message.sub(PREFIX, '')
            raise e.reworded(terse && rule['sensitive'] ? terse(message) : message), cause: nil
          end

          # @param number [Integer] of rules, built-in ones included
          # @raise [TooLargeError] an inspection cannot read so many rules; the message has both numbers
          def check_number(number)
            return if number <= Native::Rules::MAX

            raise TooLargeError, "#{number} rules, built-in ones included: #{Native::Rules::MAX} are allowed"
          end

          # @param rules [Array<Hash>] in order of creation
          # @param site_actions [Array<String>]
          # @return [Native::Rules]
          # @raise [InvalidError]
          def compile(rules, site_actions)
            Inspection.engine.call(Native.generate('rules' => rules, 'actions' => site_actions))
          end

          # @param rules [Array<Hash>] which the core may refuse
          # @return [Array<String>] the names of all actions in them
          def action_names(rules)
            rules.flat_map { |rule| rule['actions'] }.grep(Hash).map { |action| action['op'] }.grep(String).uniq
          end

          # Checks the fields that a list of rules needs.
          #
          # @param rule [Object]
          # @return [String, nil] the first field that is wrong, and what it must be; nil if the rule can be listed
          def unlistable(rule)
            return 'it must be a Hash' unless rule.is_a?(Hash)

            name, (_, needed) = LISTED.find { |field, (valid, _)| !valid.call(rule[field]) }
            "#{name}: it must be #{needed}" if name
          end

          # @param rule [Hash]
          # @return [Hash] its fields, in order; nil for the conditions and actions of a sensitive rule
          def shown(rule)
            shown = rule.slice(*DEFAULTS.keys)
            rule['sensitive'] ? shown.merge(HIDDEN.to_h { |name| [name, nil] }) : shown
          end

          # @param rule [Hash]
          # @return [String] the time of its last change; that of its creation if it has not been changed
          def last_change(rule)
            rule['updated_at'] || rule['created_at']
          end

          # @param rule [Hash]
          # @return [Hash] its fields for a list, in order
          def short(rule)
            rule.slice(*(DEFAULTS.keys - HIDDEN - ASSIGNED))
          end

          # @param old [Hash] a stored rule
          # @param fields [Object] all fields of the rule that is to replace it
          # @return [Hash] that rule, with the times of the old one
          # @raise [InvalidError] a field cannot be changed so
          def changed(old, fields)
            new = complete(fields)
            raise InvalidError, 'uuid: it cannot be changed' unless new['uuid'] == old['uuid']

            if old['sensitive'] && new['sensitive'] == false
              raise InvalidError, 'sensitive: it cannot be unset: delete the rule, and create another one'
            end

            new.merge(old.slice(*ASSIGNED))
          end

          # @param rules [Array<Hash>] those that were compiled
          # @param message [String] of {compile}
          # @return [String] see {explained}
          def explained_in(rules, message)
            rule = rules.find { |candidate| candidate['uuid'] == message[PREFIX, 1] }
            rule ? explained(rule, message.sub(PREFIX, '')) : message
          end

          # @param rule [Hash] that is wrong
          # @param why [String]
          # @return [String] a message with its description; a terse one if it is sensitive
          def explained(rule, why)
            why = terse(why) if rule['sensitive']
            "the rule #{named(rule)} is invalid: #{why}"
          end

          # @param rule [Hash]
          # @return [String] its UUID, and its description, in one line
          def named(rule)
            description = " ('#{Inspector.printable(rule['description'])}')" if rule['description']
            "#{rule['uuid']}#{description}"
          end

          # Sorts rules by precedence. Rules of equal priority keep their order.
          #
          # @param rules [Array<Hash>] in order of creation
          # @return [Array<Hash>]
          def by_precedence(rules)
            rules.each_with_index.sort_by do |rule, number|
              [PHASES.index(rule['phase']), -rule['priority'], number]
            end.map(&:first)
          end

          private

          # The core cannot read such a number, and would name a place in its JSON.
          #
          # @param data [Object]
          # @param place [String]
          # @raise [InvalidError]
          def check_numbers(data, place = nil)
            case data
            when Hash then data.each { |name, value| check_numbers(value, [place, name].compact.join('.')) }
            when Array then data.each_with_index { |value, index| check_numbers(value, "#{place}[#{index}]") }
            when Integer
              raise InvalidError, "#{place}: a number beyond 64 bits: quote it to get text" if data.bit_length > 63
            end
          end

          # The messages of conditions and actions quote names of operations, arguments and paths.
          #
          # @param message [String]
          # @return [String] the message; without a reason if it is about conditions or actions
          def terse(message)
            place = message[PLACE]
            return message if place.nil? && !message.match?(/\['(?:conditions|actions)'\]/)

            "#{place || 'conditions or actions'}: the rule is sensitive, so the reason is not shown"
          end

          # @raise [InvalidError] only a built-in rule can be so
          def check_owner(rule)
            wrong = "built_in: only the file of the option 'built_in' has built-in rules" if rule.key?('built_in')
            if rule['priority'].is_a?(Integer) && !PRIORITIES.cover?(rule['priority'])
              wrong = "priority: it must be from #{PRIORITIES.min} to #{PRIORITIES.max}: others are for built-in rules"
            end
            raise InvalidError, wrong if wrong
          end
        end
      end
    end
  end
end
