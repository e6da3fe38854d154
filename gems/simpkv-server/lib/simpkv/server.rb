# frozen_string_literal: true

require 'puma'
require 'puma/configuration'
require 'puma/launcher'
require 'simpkv'
require 'simpkv/inspection'
require 'simpkv/query'

module Simpkv
  # The service: `simpkv serve`, in the gem simpkv-server. It reads the store for those who do not run Puppet, and is a
  # front for operators. Compilers and agents never need it. Only MRI runs it.
  module Server
    # Starts and stops the service, a Rack application on Puma.
    class Service
      # Idle seconds of a connection; seconds in which running requests may end after SIGTERM.
      IDLE = 20
      LINGER = 30
      private_constant :IDLE, :LINGER

      # @param options [Hash] of the file of the command
      # @param binds [Array<String>, nil] addresses, in place of the option `bind`: see {Listener}
      # @param local_write [Boolean] see {Rights}
      # @param vardir [String, nil] the vardir of Puppet
      # @param commands [Hash{Symbol => Array<String>}] `restart`, the command that SIGUSR2 starts in place of this
      #   process; `doctor`, which examines the site, or nil: see {DoctorProcess}
      # @param log [Log]
      # @yieldreturn [Hash] the options, read again, after SIGHUP
      # @raise [ConfigError] an option is wrong
      def initialize(options, commands:, binds: nil, local_write: false, vardir: nil, log: Log.new($stderr),
                     &read_again)
        @options = Config::Sections.convert(options, 'server')
        @settings = { commands: commands, binds: binds, local_write: local_write, vardir: vardir, log: log }
        @commands = commands
        @log = log
        @local_write = local_write
        @read_again = read_again
        @rights = rights_of(@options)
        @listeners = (binds || @options['bind']).map { |url| Listener.new(url, @options) }
        @certificates = Certificates.new(@options)
        @site = Site.new(options, vardir, @log)
        @site.backend
        @owner = Caller.new(:user, Audit.user, Process.euid)
        @sign_in = SignIn.of(@options['sign_in'], @site, @log)
        @tokens = Tokens.of(@options['tokens'], @site, @owner)
        @guard = TokenGuard.new
        make_parts
      end

      # Serves until SIGTERM or SIGINT.
      #
      # @param signals [Signals]
      # @return [void]
      # @raise [ConfigError] an address is in use
      def run(signals)
        # A client that does not wait for its response makes a write fail. The command would end.
        trap('PIPE') { nil }
        launcher = Signals::Launcher.new(configuration, log_writer: ErrorLog.new(@log),
                                                        argv: @commands.fetch(:restart).drop(1))
        launcher.signals = signals
        # Puma has bound the addresses, and accepts no connection yet.
        launcher.events.register(:state) do |state|
          Door.install(launcher.binder, @connections, method(:large?)) if state == :booting
        end
        Inspection.engine = @work.engine
        restart = Restart.new(launcher, @connections, @watches, signals, @log)
        launcher.events.after_booted { booted(launcher, signals, restart) }
        restart.prepare { stop_parts }
        launcher.run
        stop_parts
      rescue SystemCallError => e
        raise ConfigError, "the service cannot listen: #{e.message}", cause: nil
      end

      private

      def configuration
        application = application()
        # Puma reads no file and no variable of the environment: config/puma.rb of the current folder would be run.
        Puma::Configuration.new({ config_files: ['-'] }, {}, {}) do |dsl|
          @listeners.each { |listener| listener.bind(dsl) }
          dsl.app(application)
          dsl.threads(0, @options['threads'])
          dsl.environment('production')
          dsl.first_data_timeout(Connection::PAUSE)
          dsl.persistent_timeout(IDLE)
          dsl.force_shutdown_after(LINGER)
          dsl.drain_on_shutdown # Connections that the kernel has taken, and Puma has not, would be reset.
          dsl.http_content_length_limit(@options['command_bytes'])
          dsl.raise_exception_on_sigterm(false)
          dsl.restart_command(@commands.fetch(:restart).first)
          dsl.lowlevel_error_handler { |error, env, status| low_level(error, env, status) }
        end
      end

      def application
        api = Api.application(site: @site, rights: -> { @rights }, metrics: @metrics, queries: @queries, work: @work,
                              readiness: Readiness.new(@site, @owner, @queries, @log), status: @status,
                              commands: Commands::Intake.new(@options['command_bytes']),
                              command_bytes: @options['command_bytes'], log: @log, watches: @watches,
                              admit: ->(env) { @gate.admit(env) })
        limit = ->(app) { BodyLimit.new(app, @options['command_bytes']) }
        @gate = Gate.new(limit.call(api), -> { @rights }, @certificates, sign_in: @sign_in, tokens: @tokens,
                                                                         guard: @guard, log: @log)
        @entrance = Entrance.new(@gate, &limit)
        Observation.new(@entrance, @metrics, @log)
      end

      # The service reads from no other connection meanwhile. So a client is known by its connection alone: to ask a
      # store or a directory about a token or a session takes time.
      #
      # @param env [Hash{String => Object}] of a request whose body has not arrived
      # @return [Boolean] whether it is a command of a client who may send it
      def large?(env)
        env = env.reject { |name, _| Credentials::HEADERS.include?(name) }
        connection = env.fetch(Connection::KEY)
        env['puma.peercert'] = connection.peercert if connection.kind == :ssl
        @gate.admit(env)
        BodyLimit.command?(env)
      rescue Problem, Error
        false
      end

      def make_parts
        @connections = Connections.new(@options['max_connections'], @log)
        @replicas = ReplicaWatch.new(@site, @options['compare_replicas_seconds'], @log)
        # The others are for requests that end.
        @watches = Watches.new(@site, @owner, @options['max_connections'] * 3 / 4, @log)
        @delivery = SpoolDelivery.new(@site, @owner, @log)
        @queries = queries
        @work = Work.new(@queries ? @queries.workers : Queries.workers(@options))
        @status = SiteStatus.new(@site, @owner, certificates: @certificates, replicas: @replicas, queries: @queries,
                                                doctor: DoctorProcess.new(@commands[:doctor]), log: @log)
        pages = [@log, CertificateMetrics.new(@certificates), AccessMetrics.new(@sign_in, @guard, @watches), @replicas,
                 @status, @queries]
        @metrics = Metrics.new(@connections, *pages.compact)
      end

      def stop_parts
        @watches.stop
        @status.stop
        @queries&.stop
        @work.stop
        @log.close
      end

      # @return [Queries, nil]
      def queries
        return if @options['query_workers'].zero?

        Queries.new(@options, @site, @owner, @log)
      end

      # A request that Puma itself refuses, or an error outside of {Observation}.
      def low_level(error, head, status)
        id = SecureRandom.uuid
        ErrorLog.note(error, id, head.peer_name)
        problem = UnreadRequest.problem(error, status, head)
        env = UnreadRequest.env(head, id)
        status, headers, body = page(head, env, problem) ||
                                problem.response(id, env['PATH_INFO'], Api::Version.error_type(head))
        [status, { **Observation.headers(id), **headers }, body]
      end

      # @return [Array, nil] the response for a browser
      def page(head, env, problem)
        @entrance.refuse(env, problem)
      rescue StandardError => e
        @log.call("internal error: #{e.class} at #{e.backtrace&.first}", id: env[Observation::ID], from: head.peer_name)
        nil
      end

      def booted(launcher, signals, restart)
        Process.setproctitle('simpkv serve')
        @replicas.start
        @status.start
        @delivery.start
        @queries&.start
        signals.obey('HUP' => method(:reload), 'USR2' => -> { start_anew(restart) })
        $stdout.sync = true
        output = Log.new($stdout) # Nobody may read it after a restart.
        launcher.binder.ios.each { |door| output.write("simpkv: serving on #{address(door)}\n") }
      end

      # The address of a listening socket: with the port that the system has chosen for port 0.
      def address(door)
        local = door.to_io.local_address
        return "unix://#{local.unix_path}" if local.unix?

        host = local.ipv6? ? "[#{local.ip_address}]" : local.ip_address
        "#{door.kind}://#{host}:#{local.ip_port}"
      end

      # Starts the service anew. If the configuration is wrong, it goes on with the one that it has.
      def start_anew(restart)
        restart.perform do
          Service.new(@read_again.call, **@settings)
          @sign_in&.farewell
        end
      rescue Error, ConfigError, SystemCallError => e
        @log.call("the service does not start anew: #{e.message}")
      end

      def rights_of(options)
        Rights.new(options['rights'], local_write: @local_write, local_details: options['local_report_details'])
      end

      # Reads rights, certificates of CAs and revocation lists again. If something is wrong, all stays as it was.
      def reload
        options = Config::Sections.convert(@read_again.call, 'server')
        rights = rights_of(options)
        @certificates.reload(options)
        @rights = rights
        @log.call('the rights and the certificates were read again')
      rescue Error, ConfigError, SystemCallError => e
        @log.call("rights and certificates stay as they were: #{e.message}")
      end
    end
  end
end

require 'simpkv/server/arenas'
require 'simpkv/server/connections'
require 'simpkv/server/door'
require 'simpkv/server/error_log'
require 'simpkv/server/listener'
require 'simpkv/server/log'
require 'simpkv/server/signals'
require 'simpkv/server/restart'
require 'simpkv/server/certificates'
require 'simpkv/server/rights'
require 'simpkv/server/problem'
require 'simpkv/server/unread_request'
require 'simpkv/server/gate'
require 'simpkv/server/body_limit'
require 'simpkv/server/site'
require 'simpkv/server/readiness'
require 'simpkv/server/replica_watch'
require 'simpkv/server/access_metrics'
require 'simpkv/server/certificate_metrics'
require 'simpkv/server/metrics'
require 'simpkv/server/open_api'
require 'simpkv/server/queries'
require 'simpkv/server/work'
require 'simpkv/server/site_status'
require 'simpkv/server/spool_delivery'
require 'simpkv/server/watches'
require 'simpkv/server/api'
require 'simpkv/server/entrance'
