# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/directory/directory_setup'
require 'simpkv/cli/directory/local_socket'
require 'simpkv/cli/directory/missing_config'

module Simpkv
  module Cli
    module Commands
      # Prints the files that prepare a directory.
      class Schema < Command
        SECTION = :storage
        SUMMARY = 'print the schema of a directory'
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Prints a file for the administrator of the directory, and asks no server without --missing-from. The comments
          in the file say how to load it. It has the base DN, the bind DN and the layout of the backend if that is a
          directory. Otherwise it has sample names below dc=simp, and notes about the names to replace.

          The forms are: ldif, the schema for a running server; schema, the same for slapd.conf of OpenLDAP; base, the
          base entry and the entries above it; access, the rules that let only the identity of the backend read and
          write there; limits, which lifts the limits on lists of that identity and adds the indexes; config, for
          OpenLDAP with cn=config, the schema, the rules, the limits and the indexes in one file; watch, for OpenLDAP,
          which lets simpkv watch see changes.

          With these rules, a replica of OpenLDAP that binds with an identity of its own may not read simpkv's entries:
          it silently holds no keys, or old ones. --replicator names that identity, and may be repeated: a rule in front
          of the others then lets it read the whole database, without limits.

          A server takes the form config once: it refuses the schema a second time. --missing-from asks the server at
          that URI, as the local user over ldapi, and leaves out what it has. ldapi:/// is the slapd of this machine.
        TEXT
        EXAMPLES = {
          'simpkv schema --form config > config.ldif' => 'All settings for OpenLDAP with cn=config',
          'simpkv schema --form config --replicator cn=replica,dc=simp' => 'The same for a server that has replicas',
          'simpkv schema --form config --replicator cn=replica,dc=simp --missing-from ldapi:///' =>
            'What a server needs for its first replica',
          'simpkv schema --form schema > /etc/ldap/schema/simpkv.schema' => 'For OpenLDAP with slapd.conf',
          'simpkv schema --server 389ds --layout hex > hex.ldif' => 'For 389 Directory Server',
          'simpkv schema -b directory --server 389ds --form limits > limits.ldif' => 'For one of several backends',
          'simpkv schema --form watch > watch.ldif' => 'For simpkv watch, in OpenLDAP',
          'simpkv schema --form base > base.ldif' => 'The base entry, for either server'
        }.freeze
        # The forms with rules or limits of identities.
        WITH_RULES = %w[access limits config].freeze
        private_constant :WITH_RULES

        def run
          forms = DirectorySchema.forms(@server)
          unless forms.include?(@form)
            raise Failure.new("there is no form '#{@form}' for #{@server}: it has #{forms.join(', ')}", Failure::USAGE)
          end

          check_replicators
          check_missing_from
          text = setup.text(@form)
          $stdout.print(@asked ? missing_part(text) : text)
        end

        private

        def define(parser)
          @server = 'openldap'
          @form = 'ldif'
          @replicators = []
          parser.on('--server SERVER', %w[openldap 389ds], 'openldap (default) or 389ds') { |name| @server = name }
          parser.on('--layout LAYOUT', %w[plain hex], 'plain or hex, as in the options of the backend') do |name|
            @layout = name
          end
          parser.on('--form FORM', %w[ldif schema base access limits config watch],
                    'ldif (default), schema, base, access, limits, config or watch') { |name| @form = name }
          parser.on('--identity DN', 'the DN that the server gives to the local user') { |dn| @identity = dn }
          parser.on('--replicator DN', 'the DN that a replica of OpenLDAP binds with') { |dn| @replicators << dn }
          parser.on('--missing-from URI', 'print only what this server lacks, for the form config') do |uri|
            @asked = uri
          end
          parser.on('--database NAME', "the server's database with the base DN ({1}mdb; userRoot)") do |name|
            @database = name
          end
        end

        def check_replicators
          return if @replicators.empty?

          if @server == '389ds'
            raise Failure.new('--replicator is for openldap: 389-DS asks no access rules when it replicates',
                              Failure::USAGE)
          end
          return if WITH_RULES.include?(@form)

          raise Failure.new("--replicator is for the forms #{WITH_RULES.join(', ')}: '#{@form}' has no rules",
                            Failure::USAGE)
        end

        def check_missing_from
          return if @asked.nil? || @form == 'config'

          raise Failure.new("--missing-from is for the form config, not for '#{@form}'", Failure::USAGE)
        end

        def missing_part(text)
          uri = LocalSocket.named(@asked)
          store = Store.open('ldap', 'ldap_uri' => uri, 'base_dn' => 'cn=config', 'id' => 'schema')
          MissingConfig.new(store, layout).of(text)
        ensure
          store&.close
        end

        def layout
          @layout || (backend.ldap? ? backend.settings['layout'] : 'plain')
        end

        def setup
          names = backend.ldap? ? names_of_backend : { identity: @identity }.compact
          DirectorySetup.new(@server, layout, database: @database, replicators: @replicators, **names)
        end

        def names_of_backend
          return {} unless DirectorySchema::FORMS_WITH_NAMES.include?(@form)

          { title: "the backend '#{backend.name}' (#{backend.title})", base_dn: backend.settings['base_dn'],
            **(@form == 'base' ? {} : { identity: identity }) }
        end

        def identity
          return @identity if @identity
          return backend.settings['admin_dn'] if backend.settings['admin_pw_file']

          raise Failure.new("backend '#{backend.name}' binds as the local user: say with --identity which DN the " \
                            "server takes it for (ldapwhoami -Q -Y EXTERNAL -H #{backend.settings['ldap_uri']})",
                            Failure::USAGE)
        end
      end
    end
  end
end
