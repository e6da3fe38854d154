# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/status/measurement'

module Simpkv
  module Cli
    module Commands
      # Measures connections to the servers.
      class Ping < Command
        SECTION = :storage
        SUMMARY = 'measure connections to the servers'
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Connects and binds to the server of each backend, reads the base entry repeatedly, and prints how long that
          takes, the product of the server, and the encryption of the connection. For files, prints how long it takes
          to look up a key. If a directory has several servers, also contacts each server separately, prints its state
          and the time of a read, and exits with 69 if a server is down.

          The backend that functions use comes first; with -o json, the others are in the member "others". With
          --backend, checks only that backend. If a backend cannot be used, prints its error, and exits with its exit
          code, the first one of several. If the folder of a store in files is missing, the exit code is 66, unless
          another backend has an error: either nobody has stored a key there yet, and simpkv init creates the folder,
          or its file system is not mounted.

          An identity whose roles have rights on some folders only (simpkv access) cannot see the base entry.

          After the server has refused a password, a process does not use it again for 10 s, and for longer each time,
          up to 60 s, unless the password file changes. A successful ping ends this wait in all processes: it updates
          the ctime of the file if the user owns it, and changes neither its content nor its mtime.
        TEXT
        EXAMPLES = {
          'simpkv ping' => 'All backends',
          'simpkv ping -b directory --count 1000' => 'A more exact measurement'
        }.freeze

        def run
          return asked(backend) { |facts| present(facts) } if others.empty?

          facts = []
          codes = [nil, *others].map { |name| answered(name) { |found| facts << found } }
          first, *more = facts
          output.print(first.merge('others' => more)) { facts.flat_map { |each| ['', *lines(each)] }.drop(1) }
          exit_code(codes.compact)
        end

        private

        def define(parser)
          @count = 20
          parser.on('--count N', 'how often to ask (20)') do |text|
            @count = converted_option('--count', 1..1_000_000, text)
          end
        end

        # A store that nobody has made yet must not hide that a server is down.
        def exit_code(codes)
          codes.find { |code| code != Failure::NO_INPUT } || codes.first
        end

        # @return [Array<String>] those that are asked beside the one that functions use
        def others
          return [] if @flags[:backend]

          configuration.usable_backends - [backend.name]
        end

        # @param asked [ChosenBackend]
        # @yieldparam facts [Hash] for the output
        # @return [Integer, nil] the exit code
        # @raise [Failure]
        def asked(asked)
          facts = Measurement.new(asked, @count).facts
          yield facts
          report_down(asked, facts['servers'])
        rescue Simpkv::Error => e
          raise Failure.new("#{asked.title}: #{asked.explain(e)}", Failure.code_for(e))
        end

        # As above, for one of several backends; an error becomes a fact.
        #
        # @param name [String, nil] nil for the one that functions use
        def answered(name, &block)
          chosen = name ? configuration.backend(name) : backend
          asked(chosen, &block)
        rescue Failure, ConfigError => e
          warn "simpkv: #{Output.text(e.message)}"
          yield({ 'backend' => chosen ? chosen.title : name, 'error' => e.message, 'servers' => [] })
          e.is_a?(Failure) ? e.code : Failure.code_for(e)
        end

        # @return [Integer, nil] the exit code
        def report_down(asked, servers)
          down = servers.select { |server| server['state'] == 'down' }
          down.each do |server|
            warn "simpkv: #{asked.title}: #{server['server']} is down: #{Output.text(server['error'])}"
          end
          Failure::UNAVAILABLE if down.any?
        end

        def present(facts)
          output.print(facts) { lines(facts) }
        end

        def lines(facts)
          servers = facts['servers']
          return table(facts.reject { |name, _| name == 'servers' }.merge(*servers)) if servers.length < 2

          [facts.reject { |name, _| name == 'servers' }, *servers].flat_map { |each| ['', *table(each)] }.drop(1)
        end

        # Moves the unit behind the number.
        def table(facts)
          Output.table(facts.map do |name, fact|
            ["#{name.delete_suffix('_ms').tr('_', ' ')}:", name.end_with?('_ms') ? "#{fact} ms" : fact]
          end)
        end
      end
    end
  end
end
