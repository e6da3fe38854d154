# frozen_string_literal: true

require 'rbconfig'
require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Starts the service.
      class Serve < Command
        SECTION = :storage
        SUMMARY = 'serve keys, nodes and inspection rules over HTTP'
        DESCRIPTION = <<~TEXT
          Starts the service, in the foreground: an HTTP API for keys, nodes and inspection rules, with metrics. It
          needs the gem simpkv-server. It prints a line with each address when it is ready, and ends with 0 after
          SIGTERM. SIGHUP reads rights, CAs and revocation lists again. SIGUSR2 starts the service anew, and no request
          is lost: connections end with their next response, or when they are idle.

          An address is unix:///PATH, tcp://127.0.0.1:PORT, tcp://[::1]:PORT, or ssl://HOST:PORT. On a Unix socket, the
          kernel tells who asks. On a loopback port, every local process may read, but no values of keys and no access
          rights. With ssl, a client needs a certificate; if the options allow it, a person may sign in instead, and a
          program may send a token (simpkv token). The section server of the file with the options says who may do
          what (docs/service.md).
        TEXT
        EXAMPLES = {
          'simpkv serve' => 'On the addresses of the configuration, or on /run/simpkv/simpkv.sock',
          'simpkv serve --bind tcp://127.0.0.1:8180' => 'Reads for local processes',
          'simpkv serve --bind tcp://127.0.0.1:0 --local-write' => 'For tests: a free port, and everything allowed'
        }.freeze

        def run
          Gems.load_for('simpkv serve', 'simpkv-server') { require 'simpkv/server' }
          log = Server::Log.new($stderr, debug: @debug)
          Server::Arenas.limit { |why| log.call(why) }
          signals = Server::Signals.new # One that arrives while the configuration is read must not be lost.
          Server::Service.new(configuration.site, binds: @binds, local_write: @local_write, vardir: @flags[:vardir],
                                                  commands: { restart: command_line, doctor: doctor },
                                                  log: log) do
            read_again
          end.run(signals)
          nil
        end

        # @param arguments [Array<String>] as {Command#perform}
        def perform(arguments)
          @arguments = arguments.dup
          super
        end

        private

        # @return [Hash] the options of the file as it is now
        # @raise [ConfigError]
        def read_again
          Configuration.new(@flags).site
        rescue Failure => e
          raise ConfigError, e.message, cause: nil
        end

        def define(parser)
          @local_write = @debug = false
          parser.on('--bind URL', 'an address to listen on; may be given several times') do |url|
            (@binds ||= []) << url
          end
          parser.on('--local-write', 'every local process may do everything over a loopback port') do
            @local_write = true
          end
          parser.on('--debug', 'log what clients of PuppetDB do otherwise than documented, too') { @debug = true }
        end

        def common(parser)
          config_option(parser)
          last_options(parser)
        end

        # @return [Array<String>, nil] the command that examines the same site; nil if its options are read only once
        def doctor
          return if @flags[:config] == DataFile::STREAM

          words = { config: '-c', vardir: '--vardir' }.select { |name, _| @flags[name] }
          [RbConfig.ruby, $PROGRAM_NAME, 'doctor', '--read-only', '-o', 'json',
           *words.flat_map { |name, option| [option, @flags[name]] }]
        end

        # @return [Array<String>] the command that starts this process anew
        def command_line
          [RbConfig.ruby, $PROGRAM_NAME, 'serve', *@arguments]
        end
      end
    end
  end
end
