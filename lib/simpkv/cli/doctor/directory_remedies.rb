# frozen_string_literal: true

require 'shellwords'
require 'simpkv/cli/directory/directory_schema'
require 'simpkv/status/servers'

module Simpkv
  module Cli
    # The remedies for the findings of {DirectoryExamination}, with commands to paste.
    class DirectoryRemedies
      REPLICA_RULE = "'to * by dn.exact=\"REPLICA_DN\" read by * break'"
      # By {Error#fault}, the remedy for a server that cannot be used.
      CONNECTING = {
        password_file: "let this user read it, or correct 'admin_pw_file'",
        credentials: "correct 'admin_dn', or the password in 'admin_pw_file'",
        bind_refused: "unlock the account of 'admin_dn', or set 'enable_tls' if the server requires TLS",
        tls: "check that the server speaks TLS there, and the options 'tls_*' of the backend",
        certificate: "correct 'tls_cacert', the CA that signed the server's certificate, or replace the certificate",
        certificate_expired: "renew the server's certificate",
        certificate_early: 'correct the clock of the server or of this machine'
      }.freeze
      # A start can delete keys that only that server has.
      KILLED = 'if an OpenLDAP server that took writes was killed, first save its keys (docs/high-availability.md, ' \
               "'If a killed server has writes that the other one lacks'); otherwise "
      private_constant :REPLICA_RULE, :CONNECTING, :KILLED

      # @param backend [ChosenBackend]
      # @param simpkv [#call] turns arguments of simpkv into a command line
      # @yieldreturn [DirectorySchema] that of the server. Called only if a remedy needs it
      def initialize(backend, simpkv, &schema)
        @backend = backend
        @simpkv = simpkv
        @find_schema = schema
        @role = false
      end

      # The identity has the rights of its roles alone (`simpkv access`). simpkv's rule for an identity with all rights
      # would give it everything, and on slapd would shut out all other users with roles.
      def for_role
        @role = true
        self
      end

      # @param name [String] the option of a file that every local user can read
      # @param user [OtherUser] the user that must be able to read it
      # @return [String]
      def sharing(name, user)
        file = settings[name].shellescape
        "chgrp #{user.group.shellescape} #{file} && chmod 0640 #{file}"
      end

      # @param name [String] the option of a file that the user cannot read
      # @param obstacle [String] the file, or a folder above it
      # @param user [OtherUser]
      # @return [String]
      def opening(name, obstacle, user)
        return sharing(name, user) if obstacle == settings[name]

        "keep the file where #{user.name} can read it, or let #{user.name} in: chgrp #{user.group.shellescape} " \
          "#{obstacle.shellescape} && chmod g+x #{obstacle.shellescape}"
      end

      # @param problem [LdapAccess::Problem]
      # @return [String]
      def for_options(problem)
        LdapAccess.remedy(settings, problem)
      end

      # @param uri [String] the server
      # @param error [Simpkv::Error]
      # @return [String]
      def for_connecting(uri, error)
        if error.fault == :certificate_name
          return "put a name of the certificate into '#{option_of(uri)}', or give the server a certificate for the " \
                 'name there'
        end

        CONNECTING.fetch(error.fault) do
          "#{KILLED if several?}start the server, or correct '#{option_of(uri)}'; by hand: " +
            LdapAccess.command(settings.merge('ldap_uri' => uri))
        end
      end

      # @return [String]
      def for_base
        suffixes = schema.suffixes
        if suffixes.any? && !schema.suffix_of(settings['base_dn'])
          return "correct 'base_dn': the server holds #{suffixes.join(' and ')} only"
        end

        'if it is missing, make it as an administrator of the directory: ' \
          "#{@simpkv.call('init', '--only', 'base', '--as', 'ADMIN_DN', '--password-file', 'FILE')}; if " \
          "#{@backend.bound_as} has roles (simpkv access), name a folder of theirs: " \
          "#{@simpkv.call('doctor', '-e', 'ENVIRONMENT')}; if it is there, and no server has rules of roles, let " \
          "#{@backend.bound_as} read and write it: #{printed('access')}; or correct 'base_dn'"
      rescue Simpkv::Error
        "correct 'base_dn', or make the entry: #{@simpkv.call('schema', '--form', 'base')}"
      end

      # @return [String]
      def for_schema
        other = schema.other_layout
        if other
          return "set 'layout: #{other}', or use another server: this one carries the schema of the layout #{other}, " \
                 'which excludes the other one'
        end

        "'#{@simpkv.call('init', '--only', 'schema')}' loads it where it may (--as, --uri and --local say who and " \
          "where); else by hand: #{@simpkv.call('schema', '--server', schema.server, '--layout', settings['layout'])}"
      end

      # @return [String]
      def for_indexes
        "as an administrator, load what this prints: #{printed('limits')}"
      end

      # @return [String]
      def for_hidden_indexes
        names = DirectorySchema.attributes_to_index(settings['layout']).map { |name| "(cn=#{name})" }
        filter = names.length > 1 ? "(|#{names.join})" : names.first
        command = ['ldapsearch', '-LLL', '-x', '-H', settings['ldap_uri'].split.first, '-D', 'cn=Directory Manager',
                   '-W', '-b', DirectorySchema.indexes_dn(schema.database(settings['base_dn'])), '-s', 'one', filter,
                   'cn']
        "an administrator sees those that there are: #{LdapAccess.shell(command)}; those that are missing: " \
          "#{printed('limits')}"
      end

      # @param deletion [String] the command that deletes an entry
      # @return [String]
      def for_conflict(deletion)
        "replication left it behind; no key is read from it: '#{@simpkv.call('conflicts', 'list')}' shows both " \
          "versions, and 'conflicts resolve' keeps one of them; or delete it: #{deletion}"
      end

      # A deletion of such a folder would delete keys that are in use.
      #
      # @param name [String] the DN of a folder that came back
      # @return [String]
      def for_revived(name)
        'its keys are in use: one server deleted it while another one added a key to it. Name one server in ' \
          "'write_uri'; if the keys should go, delete the folder with 'simpkv rm -r'; if they should stay, remove " \
          "the marker: #{LdapAccess.shell(['dsconf', 'INSTANCE', 'repl-conflict', 'convert-glue', name])}"
      end

      # @param uri [String] a server that lacks what another one has
      # @return [String]
      def for_replication(uri)
        if schema.server == '389ds'
          return "see why #{uri} does not get all changes: dsconf INSTANCE replication monitor; and initialize it anew"
        end

        'a server that was killed can have writes that no other server has, and never sends them: copy them to the ' \
          "server that takes writes, before you change anything else (docs/high-availability.md, 'If a killed server " \
          "has writes that the other one lacks'). Otherwise, see the log of #{uri}. If it replicates " \
          "with an identity of its own, that must read all entries: put #{REPLICA_RULE} in front of all rules of its " \
          'supplier (' \
          "#{@simpkv.call('schema', '--form', 'access', '--replicator', 'REPLICA_DN')} " \
          "prints it), and initialize the replica anew (the same page, 'If the disk of a server is lost'): slapd " \
          'sends entries that were hidden in this way only'
      end

      # @return [String]
      def for_limits
        "as an administrator, lift the limits for #{@backend.bound_as}: #{printed('limits')}"
      end

      # @return [String]
      def for_anonymous_access
        if schema.server == '389ds'
          return "at #{settings['base_dn']} and above it, remove or narrow the ACI that allows it: its userdn is " \
                 'ldap:///anyone'
        end

        if @role
          return 'as an administrator, add this rule after those of the roles: ' \
                 "to dn.subtree=\"#{settings['base_dn']}\" by * none"
        end

        "put the access rule of simpkv in front of all others: #{printed('access')}"
      end

      # @return [String]
      def for_hidden_values
        "as an administrator, run '#{@simpkv.call('access', 'apply', '--narrow-vlv')}', which keeps the old rule; or " \
          "load what this prints, at each server: #{printed('access')}"
      end

      # @param error [Simpkv::Error]
      # @return [String]
      def for_writing(error)
        supplier = error.message[%r{ refers to '(\w+://[^/' ]*[^/:' ])}, 1] if error.fault == :referral
        return for_referral(supplier) if supplier
        return "make the database of #{settings['base_dn']} writable, or set 'write_uri'" if error.fault == :read_only

        "let #{@backend.bound_as} write below #{settings['base_dn']}: as an administrator, load what this prints: " \
          "#{printed('access')}"
      end

      private

      # @return [String] the option that names the server
      def option_of(uri)
        settings['ldap_uri'].split.include?(uri) ? 'ldap_uri' : 'write_uri'
      end

      # `write_uri` may already name another server than the one that was killed.
      def several?
        Status::Servers.uris(settings).length > 1
      end

      # A referral alone is no reason to send a password to the server that it names.
      def for_referral(supplier)
        verb = settings['write_uri'] ? 'correct' : 'set'
        "if #{supplier} is a server of yours, of which this one is a replica, #{verb} 'write_uri' of backend " \
          "'#{@backend.name}' to it; if you do not know it, do not connect to it: find the entry with objectClass " \
          'referral (ldapsearch -M), and delete it (ldapdelete -M)'
      end

      def schema
        @schema ||= @find_schema.call
      end

      def settings
        @backend.settings
      end

      # @return [String] the command that prints a file for the administrator; for OpenLDAP one for slapd.conf and one
      #   for cn=config
      def printed(form)
        database = schema.server == '389ds' ? schema.database(settings['base_dn']) : nil
        more = ['--database', database] if form == 'limits' && database && database != 'userRoot'
        command = @simpkv.call('schema', '--server', schema.server, '--form', form, *more)
        return command if schema.server == '389ds'

        "#{command} (slapd.conf), or #{in_config}"
      end

      # The file for cn=config has simpkv's rule for an identity with all rights.
      def in_config
        return 'the same lines as olcLimits and olcDbIndex of the database in cn=config' if @role

        "#{@simpkv.call('schema', '--form', 'config', '--missing-from', 'ldapi:///')} (cn=config, as root on the " \
          'machine of the server)'
      end
    end
  end
end
