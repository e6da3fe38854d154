# frozen_string_literal: true

module Simpkv
  module Inspection
    class Rules
      # Brings the rules of a file into the store. Checks all of them before it stores the first one. The same file
      # brings the same rules, however often, and at several places at once.
      class Import
        # @param former [Hash{String => StoredRules::Stored}] the stored rules: see {StoredRules#current}
        # @param built_in [BuiltIn]
        # @param site_actions [Array<String>]
        def initialize(former, built_in, site_actions)
          unreadable, rules = former.partition { |_, each| each.value.is_a?(Error) }.map(&:to_h)
          @former = rules.transform_values(&:value)
          @expected = rules.transform_values(&:document)
          @unreadable = unreadable.keys
          @identities = @former.values.group_by { |rule| identity(rule) }
          @built_in = built_in
          @site_actions = site_actions
        end

        # @param data [Object] a list of rules
        # @param stored [StoredRules]
        # @yieldreturn [String] the time: a later one at each call
        # @return [Array<Array(Symbol, Hash)>] see {Rules#import}
        def perform(data, stored, &now)
          planned, pending = checked(data)
          written, results = store(pending, stored, &now)
          check_results(planned, results, pending.length)
          planned.map { |rule| outcome(rule, written[rule['uuid']]) }
        end

        # Foresees the outcome, and stores nothing. A sensitive rule of the store counts as updated: whether it is equal
        # to another text would tell something of it.
        #
        # @param data [Object] a list of rules
        # @return [Array<Array(Symbol, Hash)>] see {Rules#import}; new rules have no times
        def preview(data)
          planned, pending = checked(data)
          planned.map do |rule|
            former = @former[rule['uuid']]
            changed = former.nil? || former['sensitive'] || pending.include?(rule)
            outcome(rule, changed ? rule : nil)
          end
        end

        # @param fields [Object] those of a rule in the file
        # @return [Hash] the rule that is to be stored
        # @raise [InvalidError, TooLargeError, UnencodableError]
        def plan(fields)
          rule = Definition.complete(fields)
          @built_in.refuse(rule['uuid'])
          old = rule['uuid'] ? @former[rule['uuid']] : same(rule)
          return readable(Definition.check(new_rule(rule), @site_actions, terse: false)) unless old

          # A file need not say again that a rule is sensitive.
          rule['sensitive'] = true if old['sensitive'] && fields['sensitive'].nil?
          Definition.check(Definition.changed(old, rule.merge('uuid' => old['uuid'])), @site_actions, terse: false)
        end

        private

        # @return [Array(Array<Hash>, Array<Hash>)] the rules of the file, and those of them that differ from the store
        def checked(data)
          planned = RuleList.each(data) { |fields| plan(fields) }
          RuleList.refuse_twice(planned)
          pending = planned - @former.values
          Total.check(@built_in.rules + @former.values, pending, @site_actions)
          [planned, pending]
        end

        # @return [Hash, nil] the stored rule that a rule without UUID means
        def same(rule)
          unless rule['description']
            raise InvalidError, 'description: a rule without uuid needs one, by which another import finds it again'
          end

          found = @identities.fetch(identity(rule), [])
          return found.first if found.length < 2

          raise InvalidError, 'uuid: it is needed: several stored rules have this description, phase and scope: ' \
                              "#{found.map { |candidate| candidate['uuid'] }.join(', ')}"
        end

        def identity(rule)
          rule.values_at('description', 'phase', 'scope')
        end

        # Two imports at once give a new rule the same UUID, so that one of them fails.
        def new_rule(rule)
          return rule if rule['uuid']

          uuid = Definition.derived_uuid('imported', *identity(rule).map(&:to_s))
          uuid = SecureRandom.uuid if @former.key?(uuid)
          rule.merge('uuid' => uuid)
        end

        # Nobody can tell whether an unreadable rule is sensitive, so a file does not replace it.
        #
        # @return [Hash] the new rule
        # @raise [InvalidError] the store has a rule with its UUID that cannot be read
        def readable(rule)
          return rule unless @unreadable.include?(rule['uuid'])

          raise InvalidError, "uuid: the stored rule #{rule['uuid']} cannot be read: delete it first"
        end

        # Changes rules in one batch, and creates the others one after the other, up to the first error: the times of
        # creation decide in which order rules run. Another import of the file at the same time must not bring a rule
        # before one that precedes it.
        #
        # @param pending [Array<Hash>] in the order of the file
        # @return [Array(Hash, Hash)] by UUID: the rules with their times, and the results, an {Error} or something else
        def store(pending, stored, &now)
          changed, created = pending.partition { |rule| @former.key?(rule['uuid']) }
          written = changed.to_h { |rule| [rule['uuid'], rule.merge('updated_at' => now.call)] }
          results = stored.replace_many(written, @expected)
          created = [] if results.values.any?(Error)
          created.each do |rule|
            uuid = rule['uuid']
            written[uuid] = rule.merge('created_at' => now.call, 'updated_at' => nil)
            results[uuid] = create(written[uuid], stored)
            break if results[uuid].is_a?(Error)
          end
          [written, results]
        end

        # @return [true, Error]
        def create(rule, stored)
          stored.create(rule)
          true
        rescue Error => e
          e
        end

        # @param results [Hash{String => Object}] by UUID
        # @param count [Integer] of all changes
        # @raise [Error] a rule could not be stored
        def check_results(planned, results, count)
          number = planned.index { |rule| results[rule['uuid']].is_a?(Error) }
          return unless number

          uuid = planned[number]['uuid']
          error = results[uuid]
          if error.is_a?(ExistsError) || error.is_a?(ConflictError)
            error = ConflictError.new("another operator has changed the rule #{uuid}: try again").about(error.key)
          end
          stored = results.length - results.values.grep(Error).length
          why = "rules[#{number}]: #{error.message} (#{stored} of #{count} changes are stored)"
          raise error.reworded(why), cause: nil
        end

        # @param changed [Hash, nil] the rule that was stored; nil if it was stored before
        # @return [Array(Symbol, Hash)]
        def outcome(rule, changed)
          return [:unchanged, Definition.shown(rule)] unless changed

          [@former.key?(rule['uuid']) ? :updated : :created, Definition.shown(changed)]
        end
      end
    end
  end
end
