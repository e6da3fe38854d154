# frozen_string_literal: true

require 'simpkv/cli/failure'
require 'simpkv/cli/group'
require 'simpkv/cli/output'

autoload(:OptionParser, 'optparse')

module Simpkv
  module Cli
    # The base class of the commands. A command has the constants SECTION (of the list of commands: see {Commands}),
    # SUMMARY (its line there), ARGUMENTS (as they are written after its name), DESCRIPTION (the text of --help and of
    # the man page) and EXAMPLES ({command line => effect}). It defines its own options in `define`, and does its work
    # in `run`. {Group} finds it by the name of its file. The constant HIDDEN keeps it out of the list of commands.
    class Command
      SECTION = Group::SECTION
      ARGUMENTS = ''
      DESCRIPTION = ''
      EXAMPLES = {}.freeze

      # The formats of -o.
      OUTPUTS = %w[table json yaml].freeze

      # {[names of options] => why this command refuses them}
      REFUSED = {}.freeze

      # {name from another program => command to suggest in its place}
      SUGGEST_FOR = {}.freeze

      # @return [String] the words that call it: `passgen import`
      def self.title
        Group.words(name)
      end

      # @return [Symbol] that of the list of commands
      def self.section
        self::SECTION
      end

      def initialize
        @flags = { output: 'table' }
      end

      # @param arguments [Array<String>] the words after the name of the command
      # @return [Integer, nil] the exit code; nil for 0
      # @raise [Failure, Simpkv::Error, Simpkv::ConfigError]
      def perform(arguments)
        loads = self.class.section != :help
        load_library if loads && (arguments & %w[-h --help]).empty?
        operands = parse(arguments)
        return puts(help) if @flags[:help]

        load_library if loads # `-h` may be an operand: of the program that `simpkv exec` starts, for instance.
        check_number(operands)
        run(*operands)
      rescue OptionParser::ParseError => e
        # The text after the name may be a password, so the message leaves it out.
        name = e.args.first[/\A(--[a-z-]*|-.)/]
        raise Failure.new("#{e.reason}: #{name}#{choices_after(name, e)} (simpkv #{self.class.title} --help)",
                          Failure::USAGE)
      end

      # @return [OptionParser] its parser
      def parser
        require 'simpkv/cli/parser'
        usage = "Usage: simpkv #{self.class.title} [options] #{self.class::ARGUMENTS}"
        @parser ||= Parser.new(usage.rstrip) { |parser| define_all(parser) }
      end

      # Defines its own options, and those that all commands have.
      #
      # @param parser [OptionParser, #on, #separator]
      # @return [void]
      def define_all(parser)
        parser.separator("\n#{self.class::DESCRIPTION}\nOptions:")
        define(parser)
        parser.separator('')
        common(parser)
      end

      # @return [String] the text of --help
      def help
        examples = self.class::EXAMPLES.map { |line, what| "  # #{what}\n  #{line}\n" }
        "#{parser.help}\nExamples:\n#{examples.join("\n")}"
      end

      # @return [Array<OptionParser::Switch>] the options
      def switches
        parser.top.list.grep(OptionParser::Switch)
      end

      # @param name [String] such as `-c` or `--config`
      # @return [OptionParser::Switch, nil] the option of that name
      def switch(name)
        switches.find { |switch| (switch.short + switch.long).include?(name) }
      end

      # @param switch [OptionParser::Switch]
      # @return [Array<String>, nil] the values that the option takes; nil if it takes others
      def self.choices(switch)
        switch.pattern.keys if switch.pattern.is_a?(OptionParser::CompletingHash)
      end

      # Loads what every command with a store needs, and ends what exe/simpkv has begun. Texts of help need none of it.
      #
      # @return [void]
      def load_library
        require 'simpkv/cli/configuration'
        GC.enable
      end

      # @return [Configuration]
      def configuration
        load_library
        @configuration ||= Configuration.new(@flags)
      end

      # @return [ChosenBackend] the chosen one
      def backend
        @backend ||= configuration.backend(@flags[:backend])
      end

      # @return [Store] for a command that reads keys
      # @raise [Failure] the command line names an environment that has no keys
      def reading
        check_environment
        backend.store
      end

      private

      # @return [String, nil] the refused word and the accepted ones, or why the option is refused. A word with other
      #   characters than letters could be a password behind a wrong option
      def choices_after(name, error)
        return reason_to_refuse(name) if error.is_a?(OptionParser::InvalidOption)
        return unless error.is_a?(OptionParser::InvalidArgument)

        refused = switch(name)
        return unless refused&.arg

        *choices, last = Command.choices(refused)
        return ": expected #{refused.arg.strip.sub(/\AN\z/, 'a whole number')}" unless last

        word = error.args.join(' ').delete_prefix(name).sub(/\A[ =]/, '')
        "#{" #{word}" if word.match?(/\A[a-z]{1,12}\z/)}: expected #{choices.join(', ')} or #{last}"
      end

      def reason_to_refuse(name)
        _, why = self.class::REFUSED.find { |names, _| names.include?(name) }
        ": #{why}" if why
      end

      # @param arguments [Array<String>]
      # @return [Array<String>] the operands
      def parse(arguments)
        parser.parse(arguments)
      end

      # Defines the options of one command.
      def define(_parser); end

      def common(parser)
        config_option(parser)
        parser.on('--from-puppet', "read the options from Hiera, with 'puppet lookup'") { @flags[:from_puppet] = true }
        parser.on('--node NAME', 'with --from-puppet: the node of the lookup') { |name| @flags[:node] = name }
        backend_option(parser)
        parser.on('-e', '--environment ENVIRONMENT', "of the keys (production); with '', paths begin with it") do |name|
          @flags[:environment] = name
        end
        parser.on('-g', '--global', 'global keys, which all environments share') { @flags[:global] = true }
        last_options(parser)
      end

      def config_option(parser)
        parser.on('-c', '--config FILE', 'a YAML file with the options; - is standard input') do |file|
          @flags[:config] = file
        end
      end

      def backend_option(parser)
        parser.on('-b', '--backend BACKEND', 'the name of the backend') { |name| @flags[:backend] = name }
      end

      def last_options(parser)
        parser.on('--vardir DIR', "puppetserver's vardir, if not the usual one") { |dir| @flags[:vardir] = dir }
        *others, last = formats = self.class::OUTPUTS
        parser.on('-o', '--output FORMAT', formats, "#{others.join(', ')} or #{last}") { |to| @flags[:output] = to }
        parser.on('-h', '--help', 'print this') { @flags[:help] = true }
      end

      def check_number(operands)
        kinds = method(:run).parameters.map(&:first)
        return if operands.length >= kinds.count(:req) && (operands.length <= kinds.length || kinds.include?(:rest))

        wanted = self.class::ARGUMENTS.empty? ? 'no arguments' : self.class::ARGUMENTS
        raise Failure.new("simpkv #{self.class.title} takes #{wanted}, but #{operands.length} given " \
                          "(simpkv #{self.class.title} --help)", Failure::USAGE)
      end

      # The message quotes nothing: the text may be a password behind a wrong option.
      #
      # @param name [String] of the option
      # @param type [Symbol, Range] see {Coercion.convert}
      # @param text [String] as it is typed
      # @return [Object] the converted value
      # @raise [Failure]
      def converted_option(name, type, text)
        value = Coercion.convert(type, text)
        return value unless value.nil?

        raise Failure.new("#{name} must be #{Coercion.needed(type)} (simpkv #{self.class.title} --help)",
                          Failure::USAGE)
      end

      # @return [String, nil] the environment that the command line names
      def named_environment
        @flags[:environment] unless @flags[:environment].to_s.empty? || @flags[:global]
      end

      # Refuses an environment without keys, because its name may be misspelt.
      #
      # @param from [ChosenBackend]
      # @return [void]
      # @raise [Failure]
      def check_environment(from = backend)
        return unless new_environment?(from)

        others = about(named_environment) { from.environments }
        raise Failure.new("#{from.title}: there is no environment '#{named_environment}'" \
                          "#{others.empty? ? ', nor any other' : ", only #{others.join(', ')}"}", Failure::NO_INPUT)
      end

      # @param from [ChosenBackend]
      # @return [Boolean] whether the command line names an environment that has no keys; false for one whose folder is
      #   hidden, because an identity may have rights on folders in it
      def new_environment?(from = backend)
        name = named_environment
        return false if name.nil?

        about(name) do
          from.store.kind("environments/#{name}").nil?
        rescue DeniedError
          false
        end
      end

      # Runs a write with the store, and notes the first key of an environment, because its name may be misspelt.
      #
      # @param key [String] the key or folder, for the note
      # @yieldparam store [Store]
      # @yieldreturn [Object] nil or false if nothing was written
      def noting_environment(key)
        store = backend.store(create: true)
        backend.check_agreement([backend.path(key)])
        first = new_environment?
        yield(store).tap do |written|
          next unless first && written

          warn "simpkv: #{backend.title}: '#{key}' is the first key of the environment '#{named_environment}'"
        end
      end

      # @return [Output]
      def output
        @output ||= Output.new(@flags[:output])
      end

      # The part of the backend that the command line chooses: everything, an environment, or the global keys.
      #
      # @return [Array<String>] the paths of folders
      def roots
        return Walk::ROOTS unless @flags.key?(:environment) || @flags[:global]

        [Config.prefix('environment' => @flags[:environment], 'global' => @flags[:global])]
      end

      # @return [String] the path of an existing key or folder
      # @raise [Failure] the directory would take the name for another one
      def existing(name)
        path = path_of(name)
        return path unless backend.ldap? && backend.settings['layout'] == 'plain' && path.match?(/[[:upper:]]/)

        raise Failure.new("'#{name}' has capital letters, which do not count in this directory: write it as it is " \
                          'listed', Failure::USAGE)
      end

      # @return [void]
      # @raise [Failure] manifests cannot use a key of that name
      def check_key(key)
        Native.key_check(key, backend.case_sensitive?)
        return unless Config.root?(backend.path(key))

        raise Failure.new("'#{key}' is a folder, not a key", Failure::USAGE)
      rescue InvalidError, TooLargeError => e
        raise Failure.new(e.message, Failure::USAGE)
      end

      # @param name [String] of a key or a folder
      # @return [String] its path
      # @raise [Failure] it is no name
      def path_of(name)
        about(name) { backend.path(name) }
      end

      # Prints the keys that could not be read.
      #
      # @return [Integer, nil] the exit code
      def report(errors)
        errors.sort.each { |name, why| warn "simpkv: '#{Output.name(name)}': #{Output.text(why)}" }
        Failure::DATA if errors.any?
      end

      # Runs a call of the store. Its errors name the backend and the key.
      def about(name)
        yield
      rescue Simpkv::Error => e
        raise failure_about(name, e, backend.explain(e))
      end

      # Runs a call that needs a folder. Its errors name the backend and the folder.
      def about_folder(name)
        yield
      rescue Simpkv::Error => e
        raise failure_about(name, e, key_for_folder(e, name) || backend.explain(e))
      end

      def failure_about(name, error, why)
        Failure.new("#{backend.title}: '#{name}': #{why}", Failure.code_for(error))
      end

      # @return [String, nil] that the folder which is missing is a key
      def key_for_folder(error, name)
        return unless error.is_a?(NotFoundError) && backend.store.kind(backend.path(name)) == :key

        "it is a key, and simpkv #{self.class.title} takes a folder: the one above it is '#{File.dirname("/#{name}")}'"
      rescue Simpkv::Error
        nil
      end
    end
  end
end
