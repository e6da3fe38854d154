# frozen_string_literal: true

require 'simpkv/access/names'
require 'simpkv/backend/ldap_access'
require 'time'

module Simpkv
  module Server
    class SignIn
      # The accounts of people in a directory, and their groups, as the identity of a backend sees them. A password is
      # checked by a bind of its own, and not kept. Thread-safe.
      class Accounts
        # - `name`: as the directory spells it, the `account` of rights
        # - `dn`: of its entry
        # - `groups`: the names of its groups
        Account = Struct.new(:name, :dn, :groups)

        # Names that pages and logs can show.
        NAME = /\A[[:print:]]{1,255}\z/.freeze
        # Attributes that say that the server refuses an account, also with the right password: of OpenLDAP, of 389-DS
        # (two), and of Active Directory.
        LOCKS = %w[pwdAccountLockedTime accountUnlockTime nsAccountLock lockoutTime].freeze
        # Attributes, and their value, that say that the person has to change the password before anything else: of
        # OpenLDAP, of 389-DS, and of Active Directory.
        CHANGES = { 'pwdReset' => 'TRUE', 'passwordExpirationTime' => '19700101000000Z', 'pwdLastSet' => '0' }.freeze
        # Seconds for which the groups of an account are known.
        KNOWN = 60
        KNOWN_MAX = 10_000
        # The bytes of a value in a filter that need no escape.
        PLAIN = /[^A-Za-z0-9@._-]/n.freeze
        private_constant :NAME, :LOCKS, :CHANGES, :KNOWN, :KNOWN_MAX, :PLAIN

        # @param text [String]
        # @return [String] it as a value in a filter of RFC 4515
        def self.escaped(text)
          text.b.gsub(PLAIN) { |byte| format('\\%02x', byte.ord) }.force_encoding(Encoding::UTF_8)
        end

        # @param options [Hash{String => Object}] `sign_in` of the section `server`
        # @param settings [Hash{String => Object}] of its backend
        # @param clock [#call] returns seconds of a clock that only goes forward
        # @raise [ConfigError] the backend is none, or could send passwords in the clear
        def initialize(options, settings, clock = Clock.method(:now))
          @users_dn, @filter, @groups_dn = options.values_at('users_dn', 'filter', 'groups')
          @attribute = @filter[Config::Sections::Server::USER, 1]
          @settings = settings
          @clock = clock
          @mutex = Mutex.new
          @known = {}
          check_backend
        end

        # @param name [String] as a person writes it, or as the directory spells it
        # @return [Account, nil] without groups; nil if there is none, or several, or none whose name is sure
        # @raise [Error] the directory does not answer
        def find(name)
          return unless name.valid_encoding? && name.match?(NAME)

          found = directory.entries(@users_dn, [@attribute], @filter.sub('{user}') { self.class.escaped(name) })
          dn, entry = found.first
          return unless found.one?

          names = values(entry, @attribute)
          Account.new(names.first, dn, []) if names.one? && names.first.casecmp?(name) && names.first.match?(NAME)
        end

        # Binds as the account.
        #
        # @param account [Account]
        # @param password [String]
        # @return [:right, :change, :wrong, :locked] `:change` if it is right, and the directory wants a new one;
        #   `:locked` if the directory says so, whether or not the password is right
        # @raise [Error] the directory does not answer
        def check(account, password)
          return change?(account) ? :change : :right if directory.password?(account.dn, password)

          locked?(account) ? :locked : :wrong
        rescue DeniedError => e
          raise unless e.fault == :bind_refused

          :locked
        rescue UnavailableError # After the bind, 389-DS takes nothing else before the new password.
          raise unless change?(account)

          :change
        end

        # The account as it is now, or was a minute ago at most.
        #
        # @param name [String] as the directory spells it
        # @return [Account, nil] nil if there is none any more
        # @raise [Error] the directory does not answer
        def present(name)
          now = @clock.call
          time, account = @mutex.synchronize { @known[name] }
          return account if time && now - time < KNOWN

          remember(name, now, with_groups(find(name)))
        end

        # As {#present}, but asks the directory in any case.
        #
        # @param account [Account] of {#find}
        # @return [Account] with its groups
        # @raise [Error] the directory does not answer
        def with_groups(account)
          return account if account.nil? || @groups_dn.nil?

          dn, name = [account.dn, account.name].map { |text| self.class.escaped(text) }
          found = directory.entries(@groups_dn, %w[cn], "(|(member=#{dn})(uniqueMember=#{dn})(memberUid=#{name}))")
          Account.new(account.name, account.dn, found.filter_map { |group, entry| group_name(group, entry) }.sort)
        end

        private

        # @return [Account, nil] it
        def remember(name, now, account)
          @mutex.synchronize do
            @known.shift if @known.length >= KNOWN_MAX
            @known[name] = [now, account]
          end
          account
        end

        # Somebody who may add groups further below could choose any name.
        #
        # @return [String, nil] nil for a group without one sure name
        def group_name(dn, entry)
          names = values(entry, 'cn')
          above = Access::Names.normalized(dn.sub(/\A(\\.|[^,\\])*,/m, ''))
          names.first if names.one? && above == Access::Names.normalized(@groups_dn)
        end

        # @return [Boolean] whether the entry says so. The identity may not see that
        def locked?(account)
          entry = entry(account, LOCKS) or return false

          since, until_, inactive, windows = LOCKS.map { |name| values(entry, name).first }
          !since.nil? || inactive.to_s.casecmp?('true') || !['0', nil].include?(windows) || future?(until_)
        end

        # @return [Boolean] whether the entry says so. The identity may not see that
        def change?(account)
          entry = entry(account, CHANGES.keys) or return false

          CHANGES.any? { |name, value| values(entry, name).first.to_s.casecmp?(value) }
        end

        # @return [Array, nil] some attributes of the account; nil if the identity may not read it
        def entry(account, names)
          directory.read_entry(account.dn, names)
        rescue DeniedError, NotFoundError
          nil
        end

        # @param text [String, nil] a time such as 20261129120000Z
        def future?(text)
          text.to_s.match?(/\A\d{14}Z\z/) && text > Time.now.utc.strftime('%Y%m%d%H%M%SZ')
        end

        def values(entry, name)
          entry.find { |key, _| key.casecmp?(name) }&.last.to_a
        end

        # @return [Directory] asks no server yet
        def directory
          @mutex.synchronize { @store ||= LdapAccess.open(@settings) }.directory
        end

        def check_backend
          unless @settings['type'] == 'ldap'
            raise ConfigError, "'sign_in' of 'server' needs a backend of type ldap: set 'backend' of 'sign_in'"
          end

          uris = LdapAccess.uris(@settings).reject { |uri| uri.start_with?('ldapi:') }
          open = uris.find { |uri| !LdapAccess.tls?(@settings, uri) }
          return unless open

          raise ConfigError, "'sign_in' of 'server' would send passwords to #{open} without TLS: use ldaps://, or " \
                             "set 'enable_tls' of its backend"
        end
      end
    end
  end
end
