# frozen_string_literal: true

require 'simpkv/cli/failure'
require 'simpkv/cli/output'
require 'simpkv/library'
require 'simpkv/version'

Simpkv::LIBRARY.each do |file|
  Simpkv.autoload(file[/\w+\z/].split('_').map(&:capitalize).join, "simpkv/#{file}")
end

module Simpkv
  # The command `simpkv`, for operators: it shows and changes keys from a shell, without Puppet. {Commands} has its
  # commands, which describe themselves: --help, the man page and the completion of shells come from there.
  module Cli
    HELP = %w[-h --help].freeze
    private_constant :HELP
    %w[Command Field Variables Walk].each { |name| autoload(name, "simpkv/cli/#{name.downcase}") }

    class << self
      # Runs a command.
      #
      # @param arguments [Array<String>] those of the command line
      # @return [Integer] the exit code: 0, 1 for a negative answer, else one of sysexits
      def run(arguments)
        Signal.trap('PIPE', 'SYSTEM_DEFAULT')
        code = dispatch(text(arguments)) || 0
        # A failure to write the output ends the command, too.
        $stdout.flush
        code
      rescue Failure => e
        complain(e.message, e.code)
      rescue Simpkv::Error, Simpkv::ConfigError => e
        complain(e.message, Failure.code_for(e))
      rescue SystemCallError => e
        complain(e.message, Failure::IO)
      rescue StandardError, NotImplementedError => e
        # The message may quote a value.
        complain("internal error: #{e.class} at #{e.backtrace&.first}. Please report it", Failure::SOFTWARE)
      rescue SignalException => e
        # Re-raise with the default handler, so that the parent process sees the signal.
        Signal.trap(e.signo, 'SYSTEM_DEFAULT')
        Process.kill(e.signo, Process.pid)
        sleep
      end

      # Takes the options that stand before the command off the arguments.
      #
      # @param arguments [Array<String>]
      # @return [Array<String>] the options, with their values
      def leading_options(arguments)
        taken = []
        while arguments.first&.start_with?('-')
          require 'simpkv/cli/command'
          taken << arguments.shift
          taken << arguments.shift if arguments.any? && Command.new.switch(taken.last)&.arg
        end
        taken
      end

      private

      # Keys are UTF-8, whatever the locale.
      def text(arguments)
        words = arguments.map { |word| word.dup.force_encoding(Encoding::UTF_8) }
        return words if words.all?(&:valid_encoding?)

        raise Failure.new('an argument is not UTF-8 (bytes come from --file, or from standard input)', Failure::USAGE)
      end

      def dispatch(arguments)
        return puts("simpkv #{VERSION}") if [%w[version], %w[--version]].include?(arguments)

        require 'simpkv/cli/commands'
        arguments.clear if arguments.one? && (arguments & HELP).any?
        leading = leading_options(arguments)
        # `help COMMAND` is the same as `COMMAND --help`.
        arguments.push('--help').shift if arguments.first == 'help'
        found = Commands.resolve(arguments)
        return found.new.perform(leading + arguments) if found.is_a?(Class)

        missing = missing(leading, arguments)
        missing ? unknown(found, missing) : puts(found.help)
      end

      # @return [String, nil] the word that names no command, or an option without a command; nil to print the help
      def missing(leading, arguments)
        return (arguments - HELP).first if arguments.any?

        leading.first if (leading & HELP).empty?
      end

      def unknown(group, word)
        help = "simpkv #{group.title}".rstrip << ' --help'
        raise Failure.new("no command after #{word}; #{help} names them", Failure::USAGE) if word.start_with?('-')

        refuse_missing(group, word)
        likely = group.suggestion(word)
        call = group.call_of_default(word)
        # Any other word could be a value, except in the place of a key.
        named = " '#{word}'" if call || word.match?(/\A[a-z_]+\z/)
        raise Failure.new("there is no such command#{named}#{": did you mean '#{likely}'?" if likely} " \
                          "(#{help} names them all#{"; #{call} is for a key of that name" if call})", Failure::USAGE)
      end

      # @raise [Gems::MissingError] another gem has the command
      def refuse_missing(group, word)
        owner = group.owner(word)
        raise Gems.missing("simpkv #{group.title} #{word}".squeeze(' '), owner) if owner
      end

      def complain(message, code)
        warn "simpkv: #{Output.text(message)}"
        code
      end
    end
  end
end
