# frozen_string_literal: true

module Simpkv
  # The definitions of the options. Validation, conversion, docs/configuration.md and the suggestion for a misspelt
  # option all use them.
  module Config
    # name:: its name in Hiera type:: the type of its values: a name in {Coercion}, a Range of whole numbers, or an
    # Array of choices default:: the value of an absent option; nil if that depends, or if there is none text:: one line
    # for docs/configuration.md absent:: the meaning of an absent option without default, in words errors:: texts of the
    # errors that it can cause, beside a value of the wrong type; `...` stands for any text protects:: whether its
    # default is less safe than the values that somebody would write. If it is, the option without a value is an error,
    # and does not stand for the default
    Option = Struct.new(:name, :type, :default, :text, :absent, :errors, :protects)

    def self.option(name, type, default, text, absent: nil, errors: [], protects: false) # rubocop:disable Metrics/ParameterLists
      errors = ["'#{name}' ... has no value", *errors] if protects
      Option.new(name, type, default, text, absent, errors.freeze, protects).freeze
    end
    private_class_method :option

    # Defines options in a module that extends this one.
    module Definitions
      private

      def option(*arguments, **more)
        Config.send(:option, *arguments, **more)
      end
    end

    # Options of a call, beside `backends`.
    CALL = [
      option('backend', :string, nil,
             'the name of the backend to use. Even in Hiera, it overrides `app_id`; simpkv warns if ' \
             '`app_id` chooses another backend',
             absent: 'chosen by `app_id`',
             errors: ["No simpkv backend '...' with 'id' and 'type' attributes has been configured",
                      "'backend' not specified in simpkv configuration"]),
      option('backends', :hash, nil, 'the options of each backend, by its name',
             absent: 'one of type `file` with the id `auto_default`; required for Deferred on an agent',
             errors: ["'backends' in simpkv configuration is not a Hash",
                      "'backends' must be in the options of a Deferred call on an agent",
                      "'backends' not specified in simpkv configuration", "simpkv backend '...' is not a Hash",
                      'contains different backend configs for type=... id=...']),
      option('app_id', :string, 'default',
             'chooses the backend of that name, else the backend with the longest name that is a prefix of it, else ' \
             '`default`; has an effect in the options of a call only'),
      option('environment', :string, nil, 'the environment of the keys. You cannot set it: simpkv replaces the value',
             absent: "the compiler's",
             errors: ["environment '...' has capital letters, which do not count in a directory"]),
      option('bolt_environment', :environment, nil,
             'the environment of the keys when Bolt compiles in an environment of its own',
             absent: 'required if Bolt compiles, except for global keys',
             errors: ["environment '...' is made up by Bolt: set 'bolt_environment'"]),
      option('global', :boolean, false, 'true: the key belongs to all environments'),
      option('softfail', :boolean, false,
             'true: a failing backend causes a warning, and the function returns `undef` or `false`'),
      option('default', :any, nil,
             'for `get` and `value`: the value that they return for a missing key; it may be `undef`. A failing ' \
             'backend is still an error. Has an effect in the options of a call only',
             absent: 'a missing key is an error'),
      option('missing', %w[fail empty], 'fail',
             'for `list` and `tree`: with `fail` a missing folder is an error, with `empty` it is an empty folder'),
      option('errors', %w[fail return], 'fail',
             'for `get_many` and `put_many`: with `fail` the error of any key fails the call, with `return` the call ' \
             'returns the errors by key'),
      option('skip_undecodable', :boolean, false,
             'true: a list omits keys that cannot be read, with a warning, instead of failing'),
      option('sensitive', :boolean, false, 'true: values that are read are Sensitive; metadata are not',
             protects: true),
      option('values', :boolean, true, 'for `tree`: true returns values and metadata, false names only'),
      option('noop_writes', %w[write skip], 'write',
             'for a node that runs in noop mode (the fact `clientnoop`): with `write`, its catalog stores values, ' \
             'with `skip` it logs a notice instead',
             protects: true),
      option('rich_data', :boolean, false,
             'true: values such as Timestamp, Regexp and SemVer come back with their type, not as strings'),
      option('strict_options', :boolean, false,
             'true: an unknown option, of the call or of its backend, is an error; false: a warning',
             errors: ["Unknown option '...'"], protects: true),
      option('expires_after', :lifetime, nil,
             'for `put`, `put_many`, `get_or_create` and `compare_and_put`: the time after which the value that they ' \
             'store expires: seconds, or a number with `s`, `m`, `h`, `d` or `y`, such as `90d` ' \
             '([rotation.md](rotation.md))',
             absent: 'the value does not expire',
             errors: ["'expires_after' is too long: the key would expire after the year 9999"]),
      option('history', 0..100, nil,
             'for the same functions: the number of earlier values that the key keeps, at most 256 KiB in all. An ' \
             'expired value that `get_or_create` or `compare_and_put` replaces is always kept',
             absent: "the backend's `history`",
             errors: ["a value nests too deeply for 'history' and 'expires_after'"]),
      option('version', -100..0, 0,
             'for `get` and `value`: 0 reads the current value, -1 the one before it, and so on',
             errors: ["'...' has no version ..."]),
      option('expired', %w[absent warn return], 'absent',
             'for `get`, `value`, `get_many`, `exists`, `list` and `tree`, what to do with a key that has expired: ' \
             '`absent` treats it as missing, `return` returns it as any other key, `warn` returns it with a warning. ' \
             'A tree without `values` always lists such keys',
             errors: ["'...' has expired"])
    ].freeze

    CALL_BY_NAME = CALL.to_h { |option| [option.name, option] }.freeze
    private_constant :CALL_BY_NAME

    # Options of every backend.
    BACKEND = [
      option('type', :string, nil, 'the type of the backend: the name of its plugin',
             absent: 'required', errors: ["simpkv backend plugin '...' not available"]),
      option('id', :id, nil, 'part of the place of the keys: backends of one type with different ids do not share keys',
             absent: 'required',
             errors: ["'id' of simpkv backend '...' '...' has capital letters, which do not count in a directory"]),
      option('case_sensitive', :boolean, false,
             'true: keys may have capital letters; over LDAP only with `layout: hex`',
             errors: ["'case_sensitive' of simpkv backend '...' needs 'layout' hex"]),
      option('audit', :hash, nil,
             'writes an audit log, a line for each operation ([audit.md](audit.md)): see the next table',
             absent: 'no audit log', protects: true),
      option('encryption_keys', :path, nil,
             'the file with the encryption keys, which `simpkv keys generate` creates. simpkv encrypts documents ' \
             'with the first key, and decrypts them with any. It reads the file again when it changes ' \
             '([encryption.md](encryption.md))',
             absent: 'documents are not encrypted, and encrypted ones cannot be read', protects: true,
             errors: ["cannot read ..., the file of 'encryption_keys'",
                      "the file of 'encryption_keys', ..., belongs to the user ..., who could change the keys",
                      "the file of 'encryption_keys', ..., has the mode"]),
      option('encrypt', %w[all sensitive none], 'all',
             'which documents simpkv encrypts when it stores them: all, those that hold a Sensitive, or none. It ' \
             'reads encrypted documents in all three cases',
             errors: ["'encrypt' of simpkv backend '...' needs 'encryption_keys'"]),
      option('encrypted_only', :boolean, false,
             'true: a document that is not encrypted is an error, so that nobody can put one in place of an ' \
             'encrypted one',
             protects: true,
             errors: ["'encrypted_only' of simpkv backend '...' needs 'encryption_keys'",
                      "'encrypted_only' of simpkv backend '...' needs 'encrypt' all",
                      "the document of '...' is not encrypted, which 'encrypted_only' requires"]),
      option('history', 0..100, nil,
             'the number of earlier values that each key keeps; a call can override it. Records of the estate keep ' \
             'no earlier values',
             absent: 'none')
    ].freeze

    # The options that may not change within a catalog: those that give a backend's place and identity, and those that
    # protect its documents or tell of its use.
    LOCATION_NAMES = %w[root_path ldap_uri base_dn admin_dn layout encryption_keys encrypt encrypted_only
                        audit].freeze
  end
end

require 'simpkv/config/options/audit'
require 'simpkv/config/options/level'
require 'simpkv/config/options/stores'
