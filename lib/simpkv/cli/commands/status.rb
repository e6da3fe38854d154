# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/status/nagios'
require 'simpkv/cli/status/status_screen'
require 'simpkv/status'

module Simpkv
  module Cli
    module Commands
      # Shows the state of a site.
      class Status < Command
        SECTION = :storage
        SUMMARY = 'show servers, compilers, nodes and what needs attention'
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Prints the state of the site on one screen: each server of each directory, asked by itself (time of a read,
          lag of replication, days until its certificate expires), the compilers that store counters
          (compiler_counters) with their versions and the fingerprints of their files of keys, nodes by the status of
          their last run, keys that expire within 14 days, differences from the declared access rights, and the
          certificates that the backends name. It begins with what needs attention. All parts are read at the same
          time. A server that hangs costs its time limit once, and a part that was not read within --timeout is
          unknown. With --backend, the servers, keys and certificates are those of that backend.

          Exits with 0 (ok), 1 (a warning), 2 (something is critical) or 3 (a part is unknown, and nothing is critical).
          Other codes are as in other commands; with --format nagios, 3 takes their place. With --format prometheus,
          the code is 0 when the metrics are written: limits and alerts are up to Prometheus. docs/status.md has the
          rules.

          --watch refreshes a terminal, and prints blocks elsewhere, until Ctrl-C. It reads a part again when it is
          older than that: servers 15 s, nodes 10 s, compilers 1 min, keys 5 min, access rights and certificates 15 min.
        TEXT
        EXAMPLES = {
          'simpkv status' => 'The state of the site',
          'simpkv status --watch 10' => 'The same, every 10 seconds',
          'simpkv status --format nagios --parts servers --lag-critical 5m' => 'A check for Nagios or Icinga',
          'simpkv status --format prometheus --to /var/lib/prometheus/node-exporter/simpkv.prom' =>
            'Metrics for the textfile collector of node_exporter'
        }.freeze

        FORMATS = %w[nagios prometheus].freeze
        CODES = { 'ok' => 0, 'warning' => Failure::NO, 'critical' => Failure::CONFLICT,
                  'unknown' => Failure::UNKNOWN }.freeze
        CLEAR = "\e[H\e[2J"
        DAY = 86_400
        NUMBERS = (0..999_999_999).freeze
        private_constant :FORMATS, :CODES, :CLEAR, :DAY, :NUMBERS

        # Nagios takes an exit code that it does not know for a state worse than unknown.
        def perform(arguments)
          super
        rescue Failure, Simpkv::Error, ConfigError, SystemCallError => e
          raise unless nagios?(arguments)

          puts(Nagios.unknown(e.message))
          Failure::UNKNOWN
        end

        # A part whose gem is missing would be left out, and nothing would need attention.
        def run
          check_output
          refuse_missing
          return prometheus if @format == 'prometheus'

          refuse('--to needs --format prometheus') if @to
          return watch if @seconds

          present(state.get)
        end

        private

        # @raise [Gems::MissingError] the site has a section, or documents in the store, of a gem that is not there
        def refuse_missing
          Config::Sections.demand_of(configuration.site)
          return if Owners.missing.empty?

          Owners.of(configuration, backend, backend.store(base: false))
        rescue Gems::MissingError
          raise
        rescue Failure, Simpkv::Error, ConfigError
          nil # What is wrong with the store is part of the state.
        end

        # The option may be abbreviated, and may follow the option that is wrong.
        def nagios?(arguments)
          arguments.each_with_index.any? do |word, index|
            name, format = word.split('=', 2)
            format ||= arguments[index + 1].to_s
            name.to_s.start_with?('--fo') && '--format'.start_with?(name) && format.match?(/\An/)
          end
        end

        def define(parser)
          @limits = {}
          @timeout = 30
          @parts = Simpkv::Status::Part.readable.keys
          parser.on('--watch [SECONDS]', 'repeat, every 5 seconds') do |text|
            @seconds = [converted_option('--watch', :duration, text || 5), 0.1].max
          end
          parser.on('--format FORMAT', FORMATS, 'nagios or prometheus') { |format| @format = format }
          parser.on('--to FILE', 'with prometheus: the file to replace') { |file| @to = file }
          parser.on('--parts PART,...', Array, "some of #{@parts.join(', ')}") { |names| @parts = checked(names) }
          parser.on('--timeout SECONDS', 'the time limit of a part (30)') do |text|
            @timeout = converted_option('--timeout', :duration, text)
          end
          define_limits(parser)
        end

        def define_limits(parser)
          Simpkv::Status::Part.readable.each_value do |type|
            type::LIMITS.each { |name, limit| limit(parser, name, limit) }
          end
        end

        def limit(parser, name, limit)
          type = limit.argument == 'TIME' ? :lifetime : NUMBERS
          %w[warning critical].each do |level|
            about = level == 'warning' ? "a warning if #{limit.text}" : 'the same for critical'
            option = "--#{name}-#{level}"
            parser.on("#{option} #{limit.argument}", about) do |given|
              @limits[:"#{name}_#{level}"] = scaled(name, converted_option(option, type, given))
            end
          end
        end

        # @return [Numeric] in the unit of the limit: days, seconds, or a number
        def scaled(name, value)
          { certificate: -> { days(value) }, latency: -> { value / 1000.0 } }.fetch(name, -> { value }).call
        end

        def days(seconds)
          (seconds % DAY).zero? ? seconds / DAY : seconds.fdiv(DAY)
        end

        def checked(names)
          parts = Simpkv::Status::Part.readable.keys
          wrong = (names - parts).first
          return names if names.any? && wrong.nil?

          Simpkv::Status::Part.check_gem(wrong)
          refuse("--parts: there is no part '#{wrong}': expected some of #{parts.join(', ')}")
        end

        def check_output
          return if @format.nil? || @flags[:output] == 'table'

          refuse("--format #{@format} does not go with --output #{@flags[:output]}: leave out one of them")
        end

        def refuse(message)
          raise Failure.new("#{message} (simpkv status --help)", Failure::USAGE)
        end

        # @return [Simpkv::Status::Site]
        def site
          @site ||= Simpkv::Status::Site.new(configuration.site, @flags[:vardir], method(:complain))
        end

        # @return [Array<String>]
        def backends
          return [backend.name] if @flags[:backend]

          configuration.usable_backends
        end

        def complain(warning)
          warn "simpkv: #{Output.text(warning)}" unless @seconds || @format
        end

        # @return [Simpkv::Status::State]
        def state(names = @parts)
          Simpkv::Status::State.new(site, names, backends: backends, timeout: @timeout)
        end

        # @return [Integer] the exit code
        def present(state)
          alerts = Simpkv::Status::Alerts.new(state, @limits)
          output.print(data(state, alerts)) { lines(state, alerts) }
          CODES.fetch(alerts.level)
        end

        def data(state, alerts)
          all = alerts.all.map { |alert| { 'level' => alert.level, 'text' => alert.text } }
          { 'state' => alerts.level, 'time' => Time.now.utc.iso8601, 'alerts' => all, **state }
        end

        def lines(state, alerts)
          limits = Simpkv::Status::Alerts.limits.merge(@limits)
          return Nagios.new(state, alerts, limits).lines if @format == 'nagios'

          StatusScreen.new(state, alerts, Time.now).lines
        end

        # Ctrl-C is the way to end it.
        def watch
          state = state()
          loop do
            found = state.get
            $stdout.write(CLEAR) if $stdout.tty?
            present(found)
            $stdout.puts unless $stdout.tty?
            $stdout.flush
            sleep(@seconds)
          end
        rescue Interrupt
          0
        end

        def prometheus
          check_prometheus
          state = state(@parts & Simpkv::Status::Metrics.parts(:state).keys)
          # Both at once: servers that hang cost their time limit once.
          reading = Thread.new { state.get }
          text = site_metrics(@parts & Simpkv::Status::Metrics.parts(:reading).keys) + state_metrics(reading.value)
          @to ? replace(text) : $stdout.write(text)
          nil
        end

        def check_prometheus
          refuse('--format prometheus has no --watch: let a timer run it') if @seconds
          limit = @limits.keys.first
          refuse("--format prometheus takes no --#{limit.to_s.tr('_', '-')}: its rules have the limits") if limit
          part = @parts.first
          return if @parts.length > 1 || Simpkv::Status::Part.readable.fetch(part)::METRICS

          refuse("--format prometheus has no metrics of the part #{part}")
        end

        # @param parts [Array<String>]
        # @return [String] the metrics that the service has as well
        def site_metrics(parts)
          return '' if parts.empty?

          metrics = Simpkv::Status::Metrics.new(site, backends: backends, names: parts)
          latest = Simpkv::Status::Latest.new('', 0, nil, patience: @timeout) do
            Simpkv::Status::Exposition.new.tap { |page| metrics.add_to(page) }
          end
          reading = latest.get
          return reading.value.text if reading.value

          why = reading.error || "they were not read within #{@timeout} s"
          warn "simpkv: the metrics of nodes, compilers and keys are missing: #{Output.text(why)}"
          Simpkv::Status::Metrics.unreadable.text
        end

        # @param state [Hash{String => Hash}] see {Simpkv::Status::State#get}
        def state_metrics(state)
          page = Simpkv::Status::Exposition.new
          Simpkv::Status::Metrics.of_state(page, state)
          page.text
        end

        # The collector reads the old file or the new one.
        def replace(text)
          if File.symlink?(@to) || (File.exist?(@to) && !File.file?(@to))
            raise Failure.new("#{@to}: it is no regular file, and --to replaces a file", Failure::CANNOT_CREATE)
          end

          temporary = "#{@to}.#{Process.pid}.new"
          File.open(temporary, File::WRONLY | File::CREAT | File::EXCL, 0o644) { |file| file.write(text) }
          File.rename(temporary, @to)
        rescue SystemCallError => e
          raise Failure.new("#{@to}: #{e.class.new.message}", Failure::CANNOT_CREATE), cause: nil
        ensure
          File.unlink(temporary) if temporary && File.exist?(temporary)
        end
      end
    end
  end
end
