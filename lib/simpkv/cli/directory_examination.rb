# frozen_string_literal: true

require 'simpkv/cli/examination'
require 'simpkv/cli/directory_schema'

module Simpkv
  module Cli
    # Looks for what is wrong with a backend of type ldap. Each look needs what those before it have found well.
    class DirectoryExamination < Examination
      # How many keys a server lists for anybody, unless told otherwise.
      USUAL_LIMIT = { 'openldap' => 500, '389ds' => 5000 }.freeze
      # Certificates that end earlier than in so many days are worth a word.
      DAYS = 30
      private_constant :USUAL_LIMIT, :DAYS

      # @return [void]
      def perform
        look_at_files
        return unless usable? && reachable?

        look_at_tls
        return unless base? && schema?

        look_for_leftovers
        look_at_keys
        look_at_indexes
        @write ? try_writing : findings.unknown('rights and limits', 'not tried (--read-only)')
      end

      private

      def look_at_files
        LdapAccess.warnings(settings).each do |warning|
          what, fix = warning.split(': ', 2)
          findings.warning('file', what, fix || "take the others' rights: chmod o-rwx")
        end
      end

      def usable?
        problem = LdapAccess.problem(settings)
        return findings.ok('configuration', "#{settings['base_dn']} as #{backend.identity}") unless problem

        findings.problem('configuration', problem, "correct the options of backend '#{backend.name}'")
      end

      # Every server by itself: a store would quietly use another one.
      def reachable?
        uris = settings.values_at('ldap_uri', 'write_uri').compact.flat_map(&:split).uniq
        found = uris.map { |uri| connects?(uri) }
        found.any?
      end

      def connects?(uri)
        store = Store.open('ldap', backend.store_options.merge('ldap_uri' => uri, 'write_uri' => uri, 'retries' => 0))
        store.exist?('')
        findings.ok('connecting', "#{uri} answers")
      rescue DeniedError => e
        # It answers: what it denies is looked at below.
        return findings.ok('connecting', "#{uri} answers") if e.message.include?('shows no such entry')

        findings.problem('connecting', e.message, advice(e.message))
      rescue Simpkv::Error => e
        findings.problem('connecting', e.message, advice(e.message))
      ensure
        store&.close
      end

      ADVICE = {
        /certificate|TLS|handshake/i => "mend the server's certificate, or correct 'tls_cacert'",
        /credentials|password|admin_dn/i => "correct 'admin_dn', or the password in 'admin_pw_file'"
      }.freeze
      private_constant :ADVICE

      def advice(why)
        ADVICE.find { |pattern, _| pattern.match?(why) }&.last ||
          "start the server, or correct 'ldap_uri'; by hand: #{LdapAccess.command(settings)}"
      end

      def look_at_tls
        servers.each do |server|
          tls = server['tls']
          next plain(server['uri']) if tls.nil?

          ends = tls['certificate_ends']
          text = "#{server['uri']}: #{tls['protocol']}, #{tls['cipher']}"
          next findings.ok('encryption', text) unless ends && ends - Time.now.to_i < DAYS * 86_400

          findings.warning('encryption', "#{text}; the certificate ends on #{Time.at(ends).utc.strftime('%F')}",
                           'renew it')
        end
      end

      # @return [Array<Hash>] what the statistics say of the servers of this backend
      def servers
        uris = settings.values_at('ldap_uri', 'write_uri').compact.flat_map(&:split).uniq
        found = Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }
        used = found.select { |server| uris.include?(server['uri']) && server['connects'].positive? }
        used.uniq { |server| server['uri'] }
      end

      def plain(uri)
        return if uri.start_with?('ldapi:') || !settings['admin_pw_file']

        findings.warning('encryption', "#{uri}: the password and all values are sent in the clear",
                         "use ldaps://, or 'enable_tls: true'")
      end

      def base?
        return findings.ok('base entry', settings['base_dn']) if backend.store(base: false).exist?('')

        who = backend.identity
        findings.problem('base entry', "there is no entry #{settings['base_dn']}, or #{who} may not see it",
                         "'simpkv init' makes it (or schema/base.ldif); give #{who} rights; or correct 'base_dn'")
      rescue Simpkv::Error => e
        findings.problem('base entry', e.message, "'simpkv init' makes it; or give #{backend.identity} rights there")
      end

      def schema?
        layout = settings['layout']
        missing = schema.missing
        return findings.ok('schema', "#{layout}, on #{schema.product}") if missing.empty?

        findings.problem('schema', "the server has no #{missing.join(', ')}, which 'layout: #{layout}' needs",
                         "'simpkv init' loads it where it may; else by hand: simpkv schema --server " \
                         "#{schema.server} --layout #{layout}")
      rescue Simpkv::Error => e
        findings.unknown('schema', e.message, 'storing a key will tell')
      end

      def schema
        @schema ||= DirectorySchema.new(backend.store, settings['layout'])
      end

      def look_at_indexes
        return unless schema.server == '389ds'

        names = DirectorySchema.attributes_to_index(settings['layout'])
        missing = names.reject { |name| schema.indexed?(name, 'userRoot') }
        return findings.ok('indexes') if missing.empty?

        findings.warning('indexes', "none for #{missing.join(', ')}", 'schema/389ds/limits.ldif makes them')
      rescue Simpkv::Error
        findings.unknown('indexes', "#{backend.identity} may not look at them", 'see schema/389ds/limits.ldif')
      end

      def try_writing
        with_scratch do |folder, paths|
          backend.store.put("#{folder}/key", Codec.encode('x'))
          backend.store.get("#{folder}/key")
          findings.ok('rights', "#{backend.identity} may store, read and delete keys")
          try_listing("#{folder}/list", paths)
        end
      rescue Simpkv::Error => e
        findings.problem('rights', e.message, "let #{backend.identity} write below #{settings['base_dn']}: the " \
                                              'README has the rules for both servers')
      end

      # Whether a folder is listed that is larger than a server lists for just anybody.
      def try_listing(folder, paths)
        size = @size || (USUAL_LIMIT.fetch(schema.server) + 1)
        paths.concat(Array.new(size) { |number| "#{folder}/k#{number}" })
        fill(paths)
        found = backend.store.list(folder) { nil }[:keys].length
        return findings.ok('limits', "a folder of #{size} keys is listed") if found == size

        findings.problem('limits', "of #{size} keys only #{found} are listed", limits_fix)
      rescue Simpkv::Error => e
        findings.problem('limits', e.message, limits_fix)
      end

      def fill(paths)
        document = Codec.encode('x')
        paths.each_slice(500) do |some|
          failed = backend.store.put_many(some.to_h { |path| [path, document] }).values.grep(Simpkv::Error)
          raise failed.first if failed.any?
        end
      end

      def limits_fix
        file = schema.server == '389ds' ? 'schema/389ds/limits.ldif' : 'schema/openldap/limits.conf'
        "lift the limits for #{backend.identity}: #{file} (simpkv schema --server #{schema.server} --form limits)"
      end
    end
  end
end
