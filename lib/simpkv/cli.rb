# frozen_string_literal: true

require 'simpkv'
require 'simpkv/cli/failure'

module Simpkv
  # The command `simpkv`, for operators: what a site keeps, seen and changed from a shell, without Puppet.
  #
  # Each command is a class in cli/commands, read when it is called for. They say what they can do in one place, from
  # which come --help, the man page and the completion of shells.
  module Cli
    # Every command, and what it is for.
    COMMANDS = {
      'get' => 'print the value of a key',
      'put' => 'store a value',
      'edit' => 'change a value in an editor',
      'cas' => 'store a value in place of an expected one',
      'mv' => 'give a key another name',
      'ls' => 'print the names in a folder',
      'tree' => 'draw a folder and all that is below it',
      'exists' => 'tell whether there is a key or a folder',
      'rm' => 'delete a key, or with -r a folder',
      'find' => 'find keys and folders by their names',
      'explain' => 'tell where a key is kept, and why there',
      'ping' => 'connect, and tell how that goes and how long it takes',
      'stats' => 'ping, and count what the connections did',
      'doctor' => 'look for what is wrong, and tell how to mend it',
      'schema' => "print a directory's schema",
      'init' => 'prepare a place to store keys',
      'export' => 'write keys into a file, or to standard output',
      'import' => 'store what was exported',
      'copy' => 'store the keys of one backend in another',
      'passgen import' => 'store the passwords that simplib::passgen kept in files',
      'completion' => 'print what makes a shell complete commands and keys',
      'man' => 'show the manual'
    }.freeze

    # Commands that the overview leaves out: shells call them.
    HIDDEN = %w[complete].freeze

    # Names from the functions and from other programs, and the commands to suggest for them.
    OTHER_NAMES = {
      'delete' => 'rm', 'deletetree' => 'rm -r', 'remove' => 'rm', 'list' => 'ls', 'dir' => 'ls', 'set' => 'put',
      'store' => 'put', 'cat' => 'get', 'show' => 'get', 'move' => 'mv', 'rename' => 'mv', 'compare_and_put' => 'cas',
      'compare_and_swap' => 'cas'
    }.freeze
    private_constant :HIDDEN, :OTHER_NAMES

    class << self
      # Runs a command.
      #
      # @param arguments [Array<String>] those of the command line
      # @return [Integer] the exit code: 0, 1 for `exists` when there is nothing, else one of sysexits
      def run(arguments)
        Signal.trap('PIPE', 'SYSTEM_DEFAULT')
        code = dispatch(text(arguments)) || 0
        # What does not get out is a failure, too.
        $stdout.flush
        code
      rescue Failure => e
        complain(e.message, e.code)
      rescue Simpkv::Error, Simpkv::ConfigError => e
        complain(e.message, Failure.code_for(e))
      rescue SystemCallError => e
        complain(e.message, Failure::IO)
      rescue StandardError, NotImplementedError => e
        # Without its message, which may quote a value.
        complain("internal error: #{e.class} at #{e.backtrace&.first}. Please report it", Failure::SOFTWARE)
      rescue SignalException => e
        # As who has not caught it: what called us sees the signal.
        Signal.trap(e.signo, 'SYSTEM_DEFAULT')
        Process.kill(e.signo, Process.pid)
        sleep
      end

      # @param name [String] one of {COMMANDS}
      # @return [Class] what does it
      def command(name)
        word = name.tr(' ', '_')
        require "simpkv/cli/commands/#{word}"
        Commands.const_get(word.split('_').map(&:capitalize).join)
      end

      # @return [String] what there is
      def overview
        width = COMMANDS.keys.map(&:length).max
        lines = COMMANDS.map { |name, summary| "  #{name.ljust(width)}  #{summary}" }
        <<~TEXT
          simpkv keeps values for Puppet manifests, in files or in an LDAP directory.

          Usage: simpkv COMMAND [options] [arguments]

          #{lines.join("\n")}

          simpkv COMMAND --help says more of each; simpkv man has it all.

          Examples:
            simpkv put app1/db_password --chomp - < password.txt
            simpkv get app1/db_password
            simpkv --config site.yaml doctor
        TEXT
      end

      private

      # Keys are UTF-8, whatever the locale.
      def text(arguments)
        words = arguments.map { |word| word.dup.force_encoding(Encoding::UTF_8) }
        return words if words.all?(&:valid_encoding?)

        raise Failure.new('an argument is not UTF-8 (bytes come from --file, or from standard input)', Failure::USAGE)
      end

      def dispatch(arguments)
        leading = leading_options(arguments)
        return puts("simpkv #{VERSION}") if arguments == %w[version]

        name = command_name(arguments)
        return command(name).new.perform(leading + arguments) if name

        case leading.last
        when nil, '-h', '--help' then puts overview
        when '--version' then puts "simpkv #{VERSION}"
        else raise Failure.new("no command after #{leading.last}; simpkv --help names them", Failure::USAGE)
        end
      end

      # Options may come before the command. Those with a value take the next word.
      def leading_options(arguments)
        require 'simpkv/cli/command'
        taken = []
        while arguments.first&.start_with?('-')
          taken << arguments.shift
          taken << arguments.shift if Command::TAKING_VALUE.include?(taken.last) && arguments.any?
        end
        taken
      end

      # Takes the command, of one word or two, off the arguments. `help COMMAND` is the same as `COMMAND --help`.
      def command_name(arguments)
        arguments.push('--help').shift if arguments.first == 'help'
        return if arguments.empty? || arguments == ['--help']
        return arguments.shift if HIDDEN.include?(arguments.first)

        words = [2, 1].find { |count| COMMANDS.key?(arguments.first(count).join(' ')) }
        words ? arguments.shift(words).join(' ') : unknown(arguments.first)
      end

      def unknown(word)
        likely = OTHER_NAMES[word] || Spelling.nearest(word, COMMANDS.keys)
        # Anything else could be a value.
        named = " '#{word}'" if word.match?(/\A[a-z]+\z/) || OTHER_NAMES.key?(word)
        raise Failure.new("there is no such command#{named}#{": did you mean '#{likely}'?" if likely} " \
                          '(simpkv --help names them all)', Failure::USAGE)
      end

      def complain(message, code)
        warn "simpkv: #{message}"
        code
      end
    end
  end
end
