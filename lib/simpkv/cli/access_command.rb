# frozen_string_literal: true

require 'simpkv/access/declarations'
require 'simpkv/access/passwords'
require 'simpkv/access/reconciler'
require 'simpkv/cli/data_file'
require 'simpkv/cli/estate_command'

module Simpkv
  module Cli
    # The base class of the commands for access control. They print no password.
    class AccessCommand < EstateCommand
      # The lines for people, by the act of a step; %s stands for the user, role or folder.
      STEPS = {
        'create' => 'create %s', 'password' => 'set the password of %s', 'adopt' => 'keep %s, made by an earlier apply',
        'keep' => 'leave %s as it is: it existed before', 'folder' => 'create %s', 'delete' => 'delete %s',
        'forget' => 'forget %s'
      }.freeze
      private_constant :STEPS

      # True for a command that creates a missing folder of a state in files.
      CREATE = false

      private

      # The option that makes a file the list of everything that is declared.
      def define_prune(parser)
        parser.on('--prune', 'delete what is declared in the store and not in FILE') { @prune = true }
      end

      # @return [Simpkv::Access::Reconciler]
      def reconciler
        @reconciler ||= begin
          names = Simpkv::Access::Names.new(*configuration.access.values_at('users_dn', 'roles_dn'))
          directory = Simpkv::Access::Directory.new(target.store, target.settings, names, configuration.access)
          passwords = Simpkv::Access::Passwords.new { |name| configuration.backend(name).store }
          state = Simpkv::Access::State.new(estate(create: self.class::CREATE))
          Simpkv::Access::Reconciler.new(state, directory, passwords)
        end
      end

      # @return [Backend] whose keys the roles are for
      # @raise [Failure] it is not in a directory
      def target
        @target ||= begin
          name = configuration.access['backend']
          found = name ? configuration.backend(name) : backend
          unless found.ldap?
            raise Failure.new("#{found.title}: access control needs a backend of type ldap: set 'backend' of 'access'",
                              Failure::CONFIG)
          end
          found
        end
      end

      # Brings the directory to a new state, and prints each step at once.
      #
      # @param declare [Proc, nil] see {Simpkv::Access::Reconciler#apply}
      # @return [Integer, nil] the exit code
      def reconcile(declare)
        steps = []
        on_access do |access|
          plan = access.apply(declare) { |step| tell(step, steps) }
          plan.warnings.each { |warning| complain(warning) }
          output.print('steps' => steps) { [] } if output.data?
          nil
        end
      end

      # Runs a call of the reconciler. Its errors name the backend.
      def on_access
        yield reconciler
      rescue Simpkv::Access::Refused => e
        e.conflicts.each { |conflict| complain(conflict) }
        Failure::CONFLICT
      rescue Simpkv::Error => e
        raise Failure.new("#{target.title}: #{target.explained(e)}", Failure.code_for(e))
      end

      # @param file [String]
      # @return [Simpkv::Access::Declarations]
      # @raise [Failure] the file has problems, all of which are printed
      def declarations(file)
        declared = Simpkv::Access::Declarations.new(DataFile.read(file), target.case_sensitive?)
        first, *others = declared.problems
        others.each { |problem| complain("#{file}: #{problem}") }
        raise Failure.new("#{file}: #{first}", Failure::DATA) if first

        warn_of_files(declared.users)
        declared
      end

      def warn_of_files(users)
        users.each_value.map { |user| Simpkv::Access::Passwords.warning(user['password']) }
             .compact.uniq.each { |warning| complain(warning) }
      end

      def complain(text)
        warn "simpkv: #{Output.text(text)}"
      end

      # Prints a step that was done, at once.
      #
      # @param steps [Array<Hash>] receives it
      def tell(step, steps)
        steps << data(step)
        return if output.data?

        output.print(nil) { lines(step) }
        $stdout.flush
      end

      # @return [Array<String>] the lines of a step
      def lines(step)
        case step.act
        when 'rules' then rule_lines(step)
        when 'members' then changes(step) { |sign, dn| "#{sign} member of role #{step.name}: #{dn}" }
        else [format(STEPS.fetch(step.act), subject(step))]
        end
      end

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

      # @return [Hash] for programs
      def data(step)
        { 'act' => step.act, 'kind' => step.section&.chomp('s'), 'name' => step.name,
          'add' => step.data&.fetch(:add), 'delete' => step.data&.fetch(:delete),
          'ldif' => (step.data[:ldif] if step.data&.fetch(:by_hand, false)) }.compact
      end
    end
  end
end
