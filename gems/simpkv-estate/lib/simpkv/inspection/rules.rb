# frozen_string_literal: true

require 'securerandom'
require 'time'
require 'simpkv/inspection/rules/built_in'
require 'simpkv/inspection/rules/definition'
require 'simpkv/inspection/rules/faults'
require 'simpkv/inspection/rules/import'
require 'simpkv/inspection/rules/patch'
require 'simpkv/inspection/rules/rule_list'
require 'simpkv/inspection/rules/source_file'
require 'simpkv/inspection/rules/total'
require 'simpkv/inspection/rules/trial'

module Simpkv
  module Inspection
    # The inspection rules of an estate (docs/inspection-rules.md): those of the store, which operators change, and the
    # built-in ones of a file. A rule is a Hash with the fields of {Definition::DEFAULTS}. Conditions and actions of a
    # sensitive rule are nil in results, and in no message; the document in the store has them. Thread-safe.
    #
    # Each change compares and swaps, so that changes of several operators at once are all kept. With `updated_at`, the
    # time of the last change that the caller has seen, a change of a rule that was changed since then is refused. For a
    # rule without a change, whose `updated_at` is nil, that is `created_at`.
    class Rules
      # @param estate [Estate]
      # @return [Rules] the same ones for each call
      def self.of(estate)
        estate.shared(self)
      end

      # @param estate [Estate]
      # @param site_actions [Array<String>] the names of the site's actions, which rules may use as well
      def initialize(estate, site_actions = [])
        @site_actions = site_actions
        @stored = StoredRules.new(estate)
        @built_in = BuiltIn.new(estate.options['inspection_rules']['built_in'])
        @mutex = Mutex.new
        @last = 0
      end

      # Returns the rules in order of precedence: phase, priority, built-in ones first, creation.
      #
      # @param detail [Boolean] whether to include conditions, actions, and the times of creation and of the last change
      # @param scope [String, nil] only rules of this scope
      # @param phase [String, nil] only rules of this phase
      # @yieldparam key [String] of a rule that cannot be read; without a block, the first is raised. Also a
      #   built-in rule that is wrong, which nothing has checked before: the result has it
      # @yieldparam why [String]
      # @return [Array<Hash>]
      # @raise [ConfigError] the file of the built-in rules cannot be read
      # @raise [Error]
      def list(detail: false, scope: nil, phase: nil, &block)
        chosen = Definition.by_precedence(@built_in.rules + @stored.all(&block)).select do |rule|
          [nil, rule['scope']].include?(scope) && [nil, rule['phase']].include?(phase)
        end
        @built_in.each_fault(chosen, @site_actions, &block) if block
        chosen.map { |rule| detail ? Definition.shown(rule) : Definition.short(rule) }
      end

      # @param uuid [String]
      # @return [Hash, nil] the rule; nil if there is none
      # @raise [InvalidError] this is no UUID
      # @raise [MalformedError] the rule cannot be read; names the key
      # @raise [Error, ConfigError]
      def get(uuid)
        uuid = Definition.uuid(uuid)
        rule = @built_in.get(uuid) || @stored.get(uuid)
        rule && Definition.shown(rule)
      end

      # Stores a new rule.
      #
      # @param fields [Hash{String => Object}] `actions` is required. `created_at` and `updated_at` have no effect
      # @return [Hash] the rule
      # @raise [InvalidError, TooLargeError, UnencodableError] a field is wrong; the message has the place
      # @raise [TooLargeError] also if all rules would exceed a limit together
      # @raise [ExistsError] there is a rule with this UUID
      # @raise [Error, ConfigError]
      def create(fields)
        rule = Definition.check(Definition.complete(fields), @site_actions)
        rule['uuid'] ||= SecureRandom.uuid
        @built_in.refuse(rule['uuid'])
        rule = rule.merge('created_at' => now, 'updated_at' => nil)
        check_total(rule)
        @stored.create(rule)
        Definition.shown(rule)
      rescue ExistsError
        raise ExistsError, "there is a rule #{rule['uuid']}: change it, or delete it first", cause: nil
      end

      # Changes fields of a stored rule.
      #
      # @param uuid [String]
      # @param fields [Hash{String => Object}] those to replace; nil stands for the default
      # @param updated_at [String, nil] see above
      # @return [Hash] the rule
      # @raise [NotFoundError] there is no such rule
      # @raise [ConflictError] it has been changed since `updated_at`
      # @raise [InvalidError, TooLargeError, UnencodableError] a field or `updated_at` is wrong, the rule is built in,
      #   it is sensitive and would not be so any more, or all rules would exceed a limit together
      # @raise [Error, ConfigError]
      def update(uuid, fields, updated_at: nil)
        change(uuid, updated_at) { |rule| rule.merge(fields) }
      end

      # Changes a stored rule with a JSON patch (RFC 6902). The patch can replace conditions and actions of a sensitive
      # rule, each as a whole, and cannot read them.
      #
      # @param uuid [String]
      # @param operations [Array<Hash>] such as `{ 'op' => 'replace', 'path' => '/priority', 'value' => 10 }`
      # @param updated_at [String, nil] see above
      # @return [Hash] the rule
      # @raise [InvalidError] as {#update}; or an operation is wrong: the message has its number
      # @raise [ConflictError] as {#update}; or a `test` does not hold
      # @raise [NotFoundError, Error, ConfigError] as {#update}
      def patch(uuid, operations, updated_at: nil)
        change(uuid, updated_at) { |rule| Patch.new(operations, rule['sensitive']).apply(rule) }
      end

      # Stores the rules of a file: changes those that exist, and creates the others. Stores nothing if one of them is
      # invalid. A rule without UUID is the stored one with the same description, phase and scope.
      #
      # @param data [Object] a list of rules
      # @param dry_run [Boolean] whether to store nothing: see {Import#preview}
      # @return [Array<Array(Symbol, Hash)>] for each rule `:created`, `:updated` or `:unchanged`, and the rule
      # @raise [InvalidError] a rule is wrong: the message has the place, such as `rules[2]: actions[0].op: ...`
      # @raise [TooLargeError] all rules would exceed a limit together
      # @raise [ConflictError] another operator has changed a rule meanwhile
      # @raise [Error, ConfigError]
      def import(data, dry_run: false)
        import = Import.new(@stored.current, @built_in, @site_actions)
        dry_run ? import.preview(data) : import.perform(data, @stored) { now }
      end

      # Compiles all rules as they would be if these were stored, and stores nothing.
      #
      # @param data [Object] a list of rules. One with the UUID of a stored rule takes its place, and others are new.
      #   Conditions and actions of a sensitive rule that the list lacks are those of the store
      # @return [Native::Rules, nil] nil if there are no rules
      # @raise [InvalidError, TooLargeError, UnencodableError] as {#import}
      # @raise [Error, ConfigError]
      def trial(data)
        Trial.new(@built_in, @stored.all, @site_actions).engine(data)
      end

      # Deletes a stored rule, even one that cannot be read.
      #
      # @param uuid [String]
      # @param updated_at [String, nil] see above
      # @return [Boolean] whether it existed
      # @raise [ConflictError] it has been changed since `updated_at`
      # @raise [InvalidError] the rule is built in, or `updated_at` is no time
      # @raise [Error, ConfigError]
      def delete(uuid, updated_at: nil)
        uuid = Definition.uuid(uuid)
        @built_in.refuse(uuid)
        return @stored.delete(uuid) unless updated_at

        stored = @stored.readable(uuid) || raise(missing(uuid))
        unchanged(uuid, stored.value, updated_at)
        @stored.delete_expected(uuid, stored.document) || raise(changed_since(uuid, updated_at))
      end

      # Deletes all stored rules, even those that cannot be read.
      #
      # @return [Array<String>] their UUIDs
      # @raise [Error]
      def delete_all
        @stored.names.select { |uuid| @stored.delete(uuid) }.sort
      end

      # Compiles all rules, and keeps the result until a rule changes. Reads the documents of all rules at each call.
      # Environments with different actions share the result, if it has no rule with an action that one of them lacks.
      #
      # @param site_actions [Array<String>] the names of the site's actions, instead of those above
      # @return [Native::Rules, nil] nil if there are no rules
      # @raise [InvalidError, MalformedError] a rule is invalid or cannot be read; the message names it
      # @raise [ConfigError] the file of the built-in rules cannot be read
      # @raise [Error]
      def engine(site_actions = @site_actions)
        source = [@stored.documents, @built_in.rules]
        @mutex.synchronize do
          compile(source, site_actions) unless source == @source && site_actions & @named == @known
          @engine
        end
      end

      # Checks each rule, for simpkv doctor.
      #
      # @yieldparam what [String] for a stored rule its UUID, or the key of a document that cannot be read; for a
      #   built-in rule `built-in rules`; for a limit of all rules together `all rules`
      # @yieldparam why [String]
      # @return [Integer] the number of rules
      # @raise [Error]
      def each_fault(&block)
        Faults.new(@stored, @built_in, @site_actions).each(&block)
      end

      # @return [String] no fields of rules
      def inspect
        "#<#{self.class.name}>"
      end

      private

      # @param source [Array(Hash, Array<Hash>)] the documents of the stored rules, and the built-in rules
      def compile(source, site_actions)
        rules = source.last + @stored.parse(source.first)
        named = Definition.action_names(rules)
        known = site_actions & named
        @engine = rules.any? ? Definition.compile(rules, known) : nil
        @source = source
        @named = named # the actions in the rules
        @known = known # those of the site among them
      rescue InvalidError, TooLargeError => e
        raise InvalidError, Definition.explained_in(rules, e.message), cause: nil
      end

      # @yieldparam rule [Hash] with all fields
      # @yieldreturn [Hash] the changed one
      # @return [Hash] the rule without hidden fields
      def change(uuid, updated_at)
        uuid = Definition.uuid(uuid)
        @built_in.refuse(uuid)
        changed = change_stored(uuid, updated_at) do |old|
          new = Definition.check(Definition.changed(old, yield(old)), @site_actions)
          new == old ? nil : new.merge('updated_at' => now).tap { |rule| check_total(rule) }
        end
        Definition.shown(changed)
      end

      # @param rule [Hash] that is to be stored
      # @raise [TooLargeError] all rules would exceed a limit together
      def check_total(rule)
        Total.check(@built_in.rules + @stored.all, [rule], @site_actions)
      end

      # Changes a document by compare-and-swap.
      #
      # @return [Hash] what is stored now
      def change_stored(uuid, updated_at)
        @stored.update(uuid) { |old| yield unchanged(uuid, old, updated_at) }.value
      end

      # @param rule [Hash, nil] the stored rule; nil for none, or for one that cannot be read
      # @return [Hash] the rule
      # @raise [NotFoundError, MalformedError, InvalidError, ConflictError] see {#update}
      def unchanged(uuid, rule, updated_at)
        Definition.check_time(updated_at)
        # This names the key of a rule that cannot be read.
        rule ||= @stored.get(uuid) || raise(missing(uuid))
        [nil, Definition.last_change(rule)].include?(updated_at) ? rule : raise(changed_since(uuid, updated_at))
      end

      def missing(uuid)
        NotFoundError.new("there is no rule #{uuid}")
      end

      def changed_since(uuid, updated_at)
        ConflictError.new("the rule #{uuid} has been changed since #{updated_at}: read it again")
      end

      # @return [String] the time, which differs from that of each earlier call: it gives the order of creation
      def now
        @mutex.synchronize do
          @last = [(Time.now.to_r * 1_000_000).to_i, @last + 1].max
          Time.at(@last / 1_000_000, @last % 1_000_000).utc.iso8601(6)
        end
      end
    end
  end
end
