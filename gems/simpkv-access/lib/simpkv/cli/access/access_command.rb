# frozen_string_literal: true

require 'simpkv/access/declarations'
require 'simpkv/access/passwords'
require 'simpkv/access/reconciler'
require 'simpkv/cli/data_file'
require 'simpkv/cli/estate/estate_command'

module Simpkv
  module Cli
    # The base class of the commands for access control. They print no password.
    class AccessCommand < EstateCommand
      # True for a command that creates a missing folder of a state in files.
      CREATE = false

      private

      # The option that makes a file the list of everything that is declared.
      def define_prune(parser)
        parser.on('--prune', 'delete what is declared in the store and not in FILE') { @prune = true }
      end

      # The option that changes rules of the whole server.
      def define_narrow(parser)
        parser.on('--narrow-vlv', 'delete the rule of 389-DS that gives values away by virtual list views') do
          @narrow = true
        end
      end

      # @param declared [Simpkv::Access::Declarations, nil] of the file
      # @return [Proc, nil] makes the state that the file and the options ask for; nil for the one in the store
      def wish(declared)
        return unless declared || @narrow

        lambda do |state|
          state = state.with(declared, prune: @prune) if declared
          @narrow ? state.narrowed(true) : state
        end
      end

      # @return [Hash{String => Object}] the options of access control
      def access
        configuration.section('access')
      end

      # @return [Simpkv::Access::Reconciler]
      def reconciler
        @reconciler ||= begin
          directory = Simpkv::Access::Directory.configured(target.store, target.settings, access)
          passwords = Simpkv::Access::Passwords.new { |name| configuration.backend(name).store }
          state = Simpkv::Access::State.new(estate(create: self.class::CREATE))
          Simpkv::Access::Reconciler.new(state, directory, passwords)
        end
      end

      # @return [ChosenBackend] whose keys the roles are for
      # @raise [Failure] it is not in a directory
      def target
        @target ||= begin
          name = access['backend']
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
          left = access.unfinished
          [*plan.warnings, *left.notes, *left.failures].each { |warning| complain(warning) }
          output.print('steps' => steps) { [] } if output.data?
          Failure::NO if left.failures.any? || open?(plan)
        end
      end

      # @return [Boolean] whether a server is not closed, which an option asks for
      def open?(plan)
        @narrow && plan.narrowing.servers.any? { |server| server.state != :closed }
      end

      # Runs a call of the reconciler. Its errors name the backend.
      def on_access
        yield reconciler
      rescue Simpkv::Access::Refused => e
        e.conflicts.each { |conflict| complain(conflict) }
        Failure::CONFLICT
      rescue Simpkv::Error => e
        raise Failure.new("#{target.title}: #{target.explain(e)}", Failure.code_for(e))
      end

      # @param file [String]
      # @return [Simpkv::Access::Declarations]
      # @raise [Failure] the file has problems, all of which are printed
      def declarations(file)
        declared = Simpkv::Access::Declarations.new(DataFile.read(file), target.case_sensitive?)
        first, *others = declared.problems
        others.each { |problem| complain("#{file}: #{problem}") }
        raise Failure.new("#{file}: #{first}", Failure::DATA) if first

        refuse_to_prune_all(file, declared)
        warn_of_files(declared.users)
        declared
      end

      # @raise [Failure]
      def need_file_to_prune(file)
        return if file || !@prune

        raise Failure.new('--prune needs FILE, which has everything that is to stay declared', Failure::USAGE)
      end

      # The file may be empty because its disk is full, or because somebody is writing it.
      def refuse_to_prune_all(file, declared)
        return unless @prune && declared.empty?

        raise Failure.new("#{file}: it declares nothing, and with --prune that would delete all users, roles and " \
                          'bindings: simpkv access delete --all does that', Failure::DATA)
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
        steps << step.plain
        return if output.data?

        output.print(nil) { step.lines }
        $stdout.flush
      end
    end
  end
end
