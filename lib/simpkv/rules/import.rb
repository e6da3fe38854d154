# frozen_string_literal: true

module Simpkv
  class Rules
    # Brings the rules of a file into the store. Checks all of them before it stores the first one. The same file brings
    # the same rules, however often, and at several places at once.
    class Import
      # @param rules [Rules]
      # @param stored [Array<Hash>] the stored rules, with all fields
      # @param built_in [BuiltIn]
      # @param site_actions [Array<String>]
      def initialize(rules, stored, built_in, site_actions)
        @rules = rules
        @stored = stored.to_h { |rule| [rule['uuid'], rule] }
        @built_in = built_in
        @site_actions = site_actions
      end

      # @param data [Object] a list of rules
      # @return [Array<Array(Symbol, Hash)>] see {Rules#import}
      def perform(data)
        planned = SourceFile.each(data) { |fields| plan(fields) }
        SourceFile.refuse_twice(planned)
        uuids = @stored.keys | planned.map { |rule| rule['uuid'] }
        Definition.check_number(uuids.length + @built_in.rules.length)
        planned.each_with_index.map { |rule, number| stored(rule, number) }
      end

      # @param fields [Object] those of a rule in the file
      # @return [Hash] the rule that is to be stored
      # @raise [InvalidError, TooLargeError, UnencodableError]
      def plan(fields)
        rule = Definition.complete(fields)
        @built_in.refuse(rule['uuid'])
        old = rule['uuid'] ? @stored[rule['uuid']] : same(rule)
        return Definition.check(new_rule(rule), @site_actions) unless old

        # A file need not say again that a rule is sensitive.
        rule['sensitive'] = true if old['sensitive'] && fields['sensitive'].nil?
        Definition.check(Definition.changed(old, rule.merge('uuid' => old['uuid'])), @site_actions)
      end

      private

      # @return [Hash, nil] the stored rule that a rule without UUID means
      def same(rule)
        unless rule['description']
          raise InvalidError, 'description: a rule without uuid needs one, by which another import finds it again'
        end

        found = @stored.values.select { |candidate| identity(candidate) == identity(rule) }
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
        uuid = SecureRandom.uuid if @stored.key?(uuid)
        rule.merge('uuid' => uuid)
      end

      def stored(rule, number)
        store(rule)
      rescue ExistsError, NotFoundError
        raise ConflictError, "rules[#{number}]: another operator has changed the rule #{rule['uuid']}: try again"
      rescue Error => e
        before = ' (the rules before it are stored)' if number.positive?
        raise e.class, "rules[#{number}]: #{e.message}#{before}", cause: nil
      end

      # @return [Array(Symbol, Hash)]
      def store(rule)
        old = @stored[rule['uuid']]
        return [:created, @rules.create(rule)] unless old
        return [:unchanged, Definition.shown(old)] if rule == old

        # Fields that the file lacks get their defaults.
        fields = Definition::DEFAULTS.merge(rule)
        [:updated, @rules.update(rule['uuid'], fields, updated_at: old['updated_at'])]
      end
    end
  end
end
