# frozen_string_literal: true

require 'simpkv/cli/access/access_command'

module Simpkv
  module Cli
    module Commands
      module Access
        # Stores declarations, and brings a directory to them.
        class Apply < AccessCommand
          CREATE = true

          # The longest wait between two attempts of --watch, in times of its seconds.
          LONGEST_BACKOFF = 16
          private_constant :LONGEST_BACKOFF

          SUMMARY = 'bring users, roles and rights to what is declared'
          ARGUMENTS = '[FILE]'
          DESCRIPTION = <<~TEXT
            Stores the declarations of a file (users, roles and bindings, in YAML or JSON), and changes the
            directory accordingly. Prints a line for each change. Without FILE, uses the declarations in the store.
            Declarations that the file lacks stay, except with --prune.

            You can repeat the command: a second apply changes nothing, and one after a crash does the rest. It
            exits with 2, and changes nothing, if somebody else has made the entry of a user or role, or if the
            directory is another one than at the first apply. With --watch, it applies again and again until it is
            stopped, and reads the file each time. After a failure it waits longer each time.

            389-DS lets everybody who binds find out values by virtual list views. --narrow-vlv deletes the rule that
            permits them, on each server of the backend, for all that the server has. It names the indexes that are for
            such views. Later runs keep the rule away. simpkv access delete --narrow-vlv puts it back. With the option,
            apply exits with 1 if a server is not known to be closed, for instance because it does not answer.
          TEXT
          EXAMPLES = {
            'simpkv access apply access.yaml' => 'Once',
            'simpkv access apply access.yaml --watch 300' => 'Every five minutes, as a service',
            'simpkv access apply --narrow-vlv' => 'And close 389-DS to requests that give values away'
          }.freeze

          def run(file = nil)
            need_file_to_prune(file)
            return once(file) unless @seconds

            failures = 0
            loop do
              failures = attempt(file) ? 0 : failures + 1
              sleep([@seconds * (2**failures), @seconds * LONGEST_BACKOFF].min)
            end
          end

          private

          def define(parser)
            define_prune(parser)
            define_narrow(parser)
            parser.on('--watch SECONDS', 'apply again and again, with this time in between') do |text|
              @seconds = converted_option('--watch', :duration, text)
            end
          end

          # @return [Boolean] whether it succeeded
          def attempt(file)
            once(file).nil?
          rescue Failure, Simpkv::Error, SystemCallError => e
            complain(e.message)
            false
          end

          # @return [Integer, nil] the exit code
          def once(file)
            reconcile(wish(file && declarations(file)))
          end
        end
      end
    end
  end
end
