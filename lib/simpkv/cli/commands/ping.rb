# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/status/servers'

module Simpkv
  module Cli
    module Commands
      # Measures connections to the server.
      class Ping < Command
        SECTION = :storage
        SUMMARY = 'measure connections to the server'
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Connects and binds to the server of the backend, asks for the base entry repeatedly, and prints how long
          that takes, the product of the server, and the encryption of the connection. For files, prints how long it
          takes to look up a key. Of a directory with several servers, also asks each server by itself, all at the same
          time. Prints its state and the time of a read, and exits with 69 if a server is down.

          The base entry is hidden from an identity whose roles have rights on some folders only (simpkv access).

          A process whose bind was refused does not use the password again for 10 s, and for longer each time, up to
          60 s, unless the password file changes. A successful ping ends this wait in all processes: it updates the
          ctime of the file if the user owns it, and changes neither its content nor its mtime.
        TEXT
        EXAMPLES = {
          'simpkv ping' => 'The backend that functions use',
          'simpkv ping -b directory --count 1000' => 'A more exact measurement'
        }.freeze

        def run
          asking = asking_each_server
          first, *others = about('') { measured }
          facts = { 'backend' => backend.title, 'location' => backend.location, 'first_call_ms' => first,
                    'median_ms' => median(others), 'slowest_ms' => others.max }
          answers = asking&.value.to_a
          present(backend.ldap? ? facts.merge(facts_of_directory(answers)) : facts.merge('servers' => []))
          report_down(answers)
        end

        private

        def define(parser)
          @count = 20
          parser.on('--count N', 'how often to ask (20)') do |text|
            @count = converted_option('--count', 1..1_000_000, text)
          end
        end

        # The first call connects and binds.
        def measured
          store = backend.store(base: false)
          Array.new(@count + 1) do
            before = Clock.now
            backend.ldap? ? @base = backend.check_base : store.exist?('globals/ping')
            ((Clock.now - before) * 1000).round(3)
          end
        end

        # The identity of a role sees its own folders only.
        def base_entry
          @base == :visible ? 'visible' : "hidden from #{backend.bound_as}, or missing"
        end

        # The server accepts the password. Other processes try it again when the ctime of the file changes.
        def end_backoff
          file = backend.settings['admin_pw_file']
          return unless file

          stat = File.stat(file)
          File.utime(stat.atime, stat.mtime, file)
        rescue SystemCallError
          # The file is another user's, or on a read-only file system: the back-off ends by itself.
        end

        def median(times)
          times.sort[times.length / 2]
        end

        # A store asks another server if one is down.
        #
        # @return [Thread, nil] its value: see {Simpkv::Status::Servers#all}
        def asking_each_server
          return if Simpkv::Status::Servers.uris(backend.settings).length < 2

          chosen = backend
          Thread.new { Simpkv::Status::Servers.new([chosen]).all }.tap { |thread| thread.report_on_exception = false }
        end

        # @param answers [Array<Hash>] of each server, asked by itself; none if there is only one
        def facts_of_directory(answers)
          end_backoff
          { 'base_entry' => base_entry,
            'servers' => answers.empty? ? connected.map { |server| server_facts(server) } : each_server(answers) }
        end

        def each_server(answers)
          answers.map do |answer|
            same = connected.select { |server| server['uri'] == answer['uri'] }
            server = same.find { |each| each['tls'] } || same.first || answer.slice('uri')
            server_facts(server).merge(answer.slice('state', 'latency_ms', 'error'))
          end
        end

        def connected
          Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.select { |server| server['connects'].positive? }
        end

        # @return [Integer, nil] the exit code
        def report_down(answers)
          down = answers.select { |server| server['state'] == 'down' }
          down.each do |server|
            warn "simpkv: #{backend.title}: #{server['uri']} is down: #{Output.text(server['error'])}"
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

        def server_facts(server)
          tls = server['tls']
          { 'server' => server['uri'], 'product' => server['vendor'],
            'encryption' => encryption(server),
            'certificate_ends' => tls && certificate_end(tls) }.compact
        end

        def encryption(server)
          return server['tls'].values_at('protocol', 'cipher').join(', ') if server['tls']

          LdapAccess.tls?(backend.settings, server['uri']) ? 'unknown' : 'none'
        end

        # @return [String, nil] a time in the form of RFC 3339
        def certificate_end(tls)
          ends = tls['certificate_ends']
          ends && Time.at(ends).utc.strftime('%FT%TZ')
        end
      end
    end
  end
end
