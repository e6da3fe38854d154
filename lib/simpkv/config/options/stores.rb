# frozen_string_literal: true

require 'simpkv/native'

module Simpkv
  # The options of the types of stores. The core has the table of them: `Native.options`.
  module Config
    # The options of the core that simpkv sets itself, and no site.
    SET_BY_SIMPKV = %w[id follow_links anonymous].freeze

    # What the core does not know of its options. One with `absent` has no default.
    REMARKS = {
      'root_path' => {
        absent: '`/var/simp/simpkv/file/<id>` if it exists, else `<vardir>/simp/simpkv/file/<id>` if it exists ' \
                '(`<vardir>` is that of puppetserver); else the first that simpkv can create',
        errors: ['Unable to create configured root path', 'Unable to create default root path',
                 "the root folder '...' is inside that of another store", 'Cannot access root path',
                 "several folders could hold the keys of the file backend '...', which has no 'root_path'"]
      },
      'ldap_uri' => { absent: 'required',
                      errors: ["Plugin missing 'ldap_uri' configuration", "Invalid 'ldap_uri' configuration",
                               'Plugin could not access ...'] },
      'write_uri' => { absent: 'as `ldap_uri`', errors: ["Invalid 'write_uri' configuration"] },
      'base_dn' => { errors: ['Plugin could not access ...: there is no such entry at ...',
                              "the base DN '...' is inside the tree of another store"] },
      'admin_dn' => { errors: ['Plugin could not access ...'] },
      'admin_pw_file' => { absent: 'required, except for `ldapi://`',
                           errors: ["Plugin missing 'admin_pw_file' configuration",
                                    "Configured 'admin_pw_file' ... does not exist"] },
      'enable_tls' => { absent: 'true for `ldaps://`, else false', protects: true,
                        errors: ["TLS configuration incomplete: 'tls_cacert' is missing"] },
      'tls_cacert' => { absent: 'required with TLS',
                        errors: ["TLS configuration incomplete: 'tls_cacert' is missing",
                                 "Configured 'tls_cacert' ... does not exist"] },
      'tls_cert' => { errors: ["TLS configuration incomplete: 'tls_cert' and 'tls_key' come as a pair",
                               "Configured 'tls_cert' ... does not exist"] },
      'tls_key' => { errors: ["TLS configuration incomplete: 'tls_cert' and 'tls_key' come as a pair",
                              "Configured 'tls_key' ... does not exist"] },
      'strict_paths' => { errors: ["'strict_paths' is set"] },
      'connect_timeout_seconds' => { errors: ['timed out while ...'] },
      'pool_timeout_seconds' => {
        errors: ["connections were in use for the whole time of waiting: raise 'pool_size' or 'pool_timeout_seconds'"]
      }
    }.freeze
    private_constant :SET_BY_SIMPKV, :REMARKS

    # By type, the option for the time of a call, which is an argument in the core.
    CALL_TIME = {
      'file' => option('lock_timeout_seconds', :seconds, 5,
                       'the time to wait for a key that another program has locked',
                       errors: ['Timed out waiting for lock of key file']),
      'ldap' => option('operation_timeout_seconds', :duration, 30,
                       'the time limit of an operation: of the whole call for `get`, `put`, `exists`, `delete` and ' \
                       'the creation or deletion of a folder, including the read of the base entry in the first call ' \
                       'of a catalog; of each of the two steps of `get_or_create`; of each round trip of `list`, ' \
                       '`tree`, `deletetree`, `get_many` and `put_many`. With several servers, a read waits for each ' \
                       'one that is up for an equal share of the time that is left',
                       errors: ["no answer in time ('operation_timeout_seconds')",
                                "no time is left of 'operation_timeout_seconds'"])
    }.freeze

    class << self
      private

      # @param row [Hash] an option of the core. Its times are in milliseconds, under names in `_ms`
      # @return [Option]
      def option_of_core(row)
        name = in_seconds(row['name'])
        remarks = REMARKS.fetch(name, {})
        default = default_of(row) unless remarks.key?(:absent)
        option(name, type_of(row), default, in_seconds(row['meaning']), **remarks)
      end

      def in_seconds(text)
        text.gsub(/_ms\b/, '_seconds')
      end

      def type_of(row)
        case row['type']
        when 'text' then :string
        when 'choice' then row['choices'].map(&:freeze).freeze
        when 'integer' then row['min']..row['max']
        when 'milliseconds' then row['min'].zero? ? :seconds : :duration
        else row['type'].to_sym
        end
      end

      def default_of(row)
        case row['type']
        when 'boolean' then row['default'] == 'true'
        when 'integer' then Integer(row['default'])
        when 'milliseconds' then Integer(row['default']) / 1000
        else row['default'].freeze
        end
      end
    end

    # Further options, by type. simpkv does not know the options of third-party types. A backend may hold options of
    # another built-in type: Hiera says ldap, and a call overrides the type.
    TYPES = Native.options.to_h do |type, rows|
      rows = rows.reject { |row| SET_BY_SIMPKV.include?(row['name']) }
      [type.freeze, [*rows.map { |row| option_of_core(row) }, CALL_TIME.fetch(type)].freeze]
    end.freeze
  end
end
