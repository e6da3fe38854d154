# frozen_string_literal: true

require 'simpkv/cli/command'

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
          takes to look up a key.

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
          first, *others = about('') { measured }
          facts = { 'backend' => backend.title, 'location' => backend.location, 'first_call_ms' => first,
                    'median_ms' => median(others), 'slowest_ms' => others.max }
          facts['base_entry'] = base_entry if backend.ldap?
          end_backoff if backend.ldap?
          present(facts, backend.ldap? ? servers : [])
        end

        private

        def define(parser)
          @count = 20
          parser.on('--count N', Integer, 'how often to ask (20)') { |number| @count = number.clamp(1, 1_000_000) }
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

        def servers
          Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.select { |server| server['connects'].positive? }
        end

        def present(facts, servers)
          output.print(facts.merge('servers' => servers.map { |server| server_facts(server) })) do
            table(facts.merge(*servers.map { |server| server_facts(server) }))
          end
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
