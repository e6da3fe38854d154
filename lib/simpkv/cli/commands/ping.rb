# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Connects, and tells how that goes and how long it takes.
      class Ping < Command
        SUMMARY = 'connect, and tell how that goes and how long it takes'
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Connects to the backend's server and binds, asks whether the base entry is there, again and again, and says how
          long that takes, which server it is, and how the connection is encrypted. Of files, how long it takes to look
          for a key.

          A process that was refused by a directory leaves the password alone for 10 s, and longer each time, up to 60 s,
          unless the password file changes. A ping that succeeds ends that in all processes: it marks the file as
          changed (its ctime), where the user owns it, and leaves its content and mtime alone.
        TEXT
        EXAMPLES = {
          'simpkv ping' => 'The backend that functions use',
          'simpkv ping -b directory --count 1000' => 'A better look at how long it takes'
        }.freeze

        def run
          first, *others = about('') { measured }
          facts = { 'backend' => backend.title, 'location' => backend.location, 'first_call_ms' => first,
                    'median_ms' => median(others), 'slowest_ms' => others.max }
          end_backoff if backend.ldap?
          present(facts, backend.ldap? ? servers : [])
        end

        private

        def define(parser)
          @count = 20
          parser.on('--count N', Integer, 'how many times to ask (20)') { |number| @count = number.clamp(1, 1_000_000) }
        end

        # The first call connects and binds.
        def measured
          store = backend.store(base: false)
          Array.new(@count + 1) do
            before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
            backend.ldap? ? backend.check_base : store.exist?('globals/ping')
            ((Process.clock_gettime(Process::CLOCK_MONOTONIC) - before) * 1000).round(3)
          end
        end

        # The server accepts the password. Other processes try it again when the file's ctime is another one.
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

        # People read the unit behind the number.
        def table(facts)
          Output.table(facts.map do |name, fact|
            ["#{name.delete_suffix('_ms').tr('_', ' ')}:", name.end_with?('_ms') ? "#{fact} ms" : fact]
          end)
        end

        def server_facts(server)
          tls = server['tls']
          ends = tls && tls['certificate_ends']
          { 'server' => server['uri'], 'product' => server['vendor'],
            'encryption' => tls ? "#{tls['protocol']}, #{tls['cipher']}" : 'none',
            'certificate_ends' => ends && Time.at(ends).utc.strftime('%F') }.compact
        end
      end
    end
  end
end
