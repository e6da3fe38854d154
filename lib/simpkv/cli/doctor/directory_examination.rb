# frozen_string_literal: true

require 'simpkv/cli/doctor/examination'
require 'simpkv/cli/doctor/anonymous_access'
require 'simpkv/cli/doctor/conflicts_examination'
require 'simpkv/cli/doctor/directory_remedies'
require 'simpkv/cli/directory/directory_schema'
require 'simpkv/cli/doctor/hidden_values_examination'
require 'simpkv/cli/doctor/replication_examination'

module Simpkv
  module Cli
    # Checks a backend of type ldap. Each check needs the success of those before it.
    class DirectoryExamination < Examination
      # The default limits of servers on the entries of a list.
      USUAL_LIMIT = { 'openldap' => 500, '389ds' => 5000 }.freeze
      # The days before the end of a certificate in which a warning is given.
      DAYS = 30
      KIND = 'cli/doctor/directory'
      private_constant :USUAL_LIMIT, :DAYS, :KIND

      # @return [void]
      def perform
        look_at_files
        return unless usable? && reachable?

        look_at_tls
        @replication = ReplicationExamination.new(backend, @bases, findings, remedies)
        @replication.look_at_servers
        look_at_contents if base? && schema?
      end

      private

      def look_at_contents
        look_for_leftovers
        look_at_keys
        @replication.compare(roots, @writable, &method(:trouble))
        look_at_indexes
        look_at_conflicts
        look_at_more
        look_at_hidden_values
        look_at_anonymous_access(samples) if samples.any? || !@write
        return findings.unknown('rights and limits', 'not tried (--read-only)') unless @write
        return findings.unknown('rights and limits', "not tried: no server of 'write_uri' answers") unless @writable

        try_writing
      end

      def remedies
        @remedies ||= DirectoryRemedies.new(backend, method(:simpkv)) { schema }
      end

      def look_at_files
        LdapAccess.open_files(settings).each do |name, (why, fix)|
          findings.warning('file', why, @user ? remedies.sharing(name, @user) : fix)
        end
        look_at_files_of_user if @user
      end

      # The user of puppetserver may lack access to a file that root can read.
      def look_at_files_of_user
        %w[admin_pw_file tls_cacert tls_cert tls_key].select { |name| settings[name] && File.exist?(settings[name]) }
                                                     .each do |name|
          obstacle = @user.obstacle(settings[name])
          next unless obstacle

          findings.warning('file', "'#{name}' #{settings[name]} cannot be read by the user #{@user.name}" \
                                   "#{" (#{obstacle} is closed)" if obstacle != settings[name]}",
                           remedies.opening(name, obstacle, @user))
        end
      end

      def usable?
        problem = LdapAccess.problem(settings)
        return findings.ok('configuration', "#{settings['base_dn']} as #{backend.bound_as}") unless problem

        findings.problem('configuration', problem.text, remedies.for_options(problem))
      end

      # Connects to each server by itself, because a store would fail over to another one.
      def reachable?
        uris = settings.values_at('ldap_uri', 'write_uri').compact.map(&:split)
        @bases = uris.flatten.uniq.to_h { |uri| [uri, base_at(uri)] }.compact
        @writable = uris.last.find { |uri| @bases[uri] }
        @bases.any?
      end

      # @return [Symbol, nil] see {LdapAccess.base}; nil if the server does not answer
      def base_at(uri)
        store = LdapAccess.open(settings, 'ldap_uri' => uri, 'write_uri' => uri, 'retries' => 0)
        LdapAccess.base(store).tap { findings.ok('connecting', "#{uri} answers") }
      rescue Simpkv::Error => e
        findings.problem('connecting', e.message, remedies.for_connecting(uri, e))
        nil
      ensure
        store&.close
      end

      def look_at_tls
        servers.each do |server|
          tls = server['tls']
          next without_tls(server['uri']) if tls.nil?

          ends = tls['certificate_ends']
          text = "#{server['uri']}: #{tls['protocol']}, #{tls['cipher']}"
          next findings.ok('encryption', text) unless ends && ends - Time.now.to_i < DAYS * 86_400

          findings.warning('encryption', "#{text}; the certificate ends on #{Time.at(ends).utc.strftime('%F')}",
                           'renew it')
        end
      end

      # @return [Array<Hash>] the statistics of the servers of this backend
      def servers
        uris = settings.values_at('ldap_uri', 'write_uri').compact.flat_map(&:split).uniq
        connected = Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }
        used = connected.select { |server| uris.include?(server['uri']) && server['connects'].positive? }
        # One pool may have failed where another one has connected.
        used.partition { |server| server['tls'] }.flatten.uniq { |server| server['uri'] }
      end

      # A server that must do TLS gets neither password nor values before it has done so.
      def without_tls(uri)
        return if uri.start_with?('ldapi:') || !settings['admin_pw_file']
        return findings.unknown('encryption', "#{uri}: no connection with TLS") if LdapAccess.tls?(settings, uri)

        findings.warning('encryption', "#{uri}: the password and all values are sent in the clear",
                         "use ldaps://, or 'enable_tls: true'")
      end

      def base?
        base = backend.base
        return findings.ok('base entry', settings['base_dn']) if base == :visible
        return false if @bases.value?(:visible) # reported

        base == :hidden && role? ? hidden : no_base
      rescue Simpkv::Error => e
        findings.problem('base entry', e.message, remedies.for_base)
      end

      def no_base
        findings.problem('base entry', "there is no entry #{settings['base_dn']}, or #{backend.bound_as} may not see " \
                                       "it, nor #{home}", remedies.for_base)
      end

      # The identity of a role sees its own folders only. One of them is examined.
      def role?
        @folder ||= backend.prefix
        @hidden = true
        backend.store.kind(home)
        true
      rescue DeniedError
        false
      end

      def hidden
        remedies.for_role
        findings.unknown('base entry', "hidden from #{backend.bound_as}, as from each identity that sees only the " \
                                       "folders of its roles: only #{home} is examined")
      end

      def clean(*)
        super if @wrote || !@hidden
      end

      # A role need not give the rights that a check needs.
      def trouble(what, error, fix)
        @hidden && error.is_a?(DeniedError) ? findings.unknown(what, error.message) : super
      end

      def schema?
        layout = settings['layout']
        missing = schema.missing
        return findings.ok('schema', "#{layout}, on #{schema.product}") if missing.empty?

        findings.problem('schema', "the server has no #{missing.join(', ')}, which 'layout: #{layout}' needs",
                         remedies.for_schema)
      rescue Simpkv::Error => e
        findings.unknown('schema', e.message, 'storing a key will tell')
      end

      def schema
        @schema ||= DirectorySchema.new(backend.store(base: false), settings['layout'])
      end

      def look_at_indexes
        return unless schema.server == '389ds'

        missing = schema.unindexed(settings['base_dn'])
        return findings.ok('indexes') if missing.empty?

        findings.warning('indexes', "none for #{missing.join(', ')}", remedies.for_indexes)
      rescue Simpkv::Error
        findings.unknown('indexes', "#{backend.bound_as} may not look at them", remedies.for_hidden_indexes)
      end

      def look_at_conflicts
        ConflictsExamination.new(settings, findings, remedies).perform if schema.server == '389ds'
      end

      # What the folder `cli/doctor/directory` of any gem examines.
      def look_at_more
        Gems.all(KIND).each_value do |type|
          type.new(backend, findings, schema.server, @folder).perform
        end
        Gems.absent(KIND).each do |name|
          gem = Gems.owner(KIND, name)
          findings.unknown('configuration', Gems.missing("the examination of #{name.tr('_', ' ')}", gem).message)
        end
      end

      def look_at_hidden_values
        HiddenValuesExamination.new(settings, findings, remedies).perform(@bases.keys) if schema.server == '389ds'
      end

      # @param paths [Array<String>] of stored keys
      def look_at_anonymous_access(paths)
        anonymous = AnonymousAccess.new(backend)
        allowed = anonymous.to(paths)
        return findings.ok('anonymous access', paths.any? ? 'none' : 'there is no key to try it with') unless allowed

        findings.problem('anonymous access', "anybody may #{allowed}, without a password",
                         remedies.for_anonymous_access)
      rescue Simpkv::Error => e
        findings.unknown('anonymous access', e.message)
      ensure
        anonymous&.close
      end

      def try_writing
        with_scratch do |folder, paths|
          backend.store.put("#{folder}/key", Codec.encode('x'))
          @wrote = true
          backend.store.get("#{folder}/key")
          look_at_anonymous_access(["#{folder}/key"]) if samples.empty?
          findings.ok('rights', "#{backend.bound_as} may store, read and delete keys#{" in #{home}" if @hidden}")
          try_listing("#{folder}/list", paths)
        end
      rescue Simpkv::Error => e
        trouble('rights', e, remedies.for_writing(e))
      end

      # Checks that a folder is listed that exceeds the default limit of the server.
      def try_listing(folder, paths)
        size = list_size
        paths.concat(Array.new(size) { |number| "#{folder}/k#{number}" })
        fill(paths)
        length = backend.store.list(folder) { nil }[:keys].length
        return findings.ok('limits', "a folder of #{Output.count(size, 'key')} is listed") if length == size

        findings.problem('limits', "only #{length} of #{Output.count(size, 'key')} are listed",
                         remedies.for_limits)
      rescue Simpkv::Error => e
        findings.problem('limits', e.message, remedies.for_limits)
      end

      def list_size
        @size || (USUAL_LIMIT.fetch(schema.server) + 1)
      end

      def fill(paths)
        document = Codec.encode('x')
        paths.each_slice(500) do |some|
          failed = backend.store.put_many(some.to_h { |path| [path, document] }).values.grep(Simpkv::Error)
          raise failed.first if failed.any?
        end
      end
    end
  end
end
