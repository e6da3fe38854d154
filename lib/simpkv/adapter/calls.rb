# frozen_string_literal: true

module Simpkv
  class Adapter
    # Runs the calls of the Puppet functions, from the merge of their options to the shape of their result. The
    # operations themselves are the methods of {Operations}, {Listing} and {DryRun}.
    class Calls
      Operation = Struct.new(:name, :function, :named, :writes, :presented, :failed)

      # `current` and `create` are the steps of get_or_create. `value` is a get of which the function returns the value
      # alone. The last column is the result of a failure with `softfail`.
      TABLE = [
        [:compare_and_put, 'compare_and_put', 'key', true, :as_is, false],
        [:create, 'get_or_create', 'key', true, :entry, nil],
        [:current, 'get_or_create', 'key', false, :entry, nil],
        [:delete, 'delete', 'key', true, :as_is, false],
        [:deletetree, 'deletetree', 'keydir', true, :as_is, false],
        [:exists, 'exists', 'key', false, :as_is, nil],
        [:get, 'get', 'key', false, :entry, nil],
        [:get_many, 'get_many', 'keys', false, :collection, nil],
        [:list, 'list', 'keydir', false, :collection, nil],
        [:put, 'put', 'key', true, :as_is, false],
        [:put_many, 'put_many', 'keys', true, :collection, nil],
        [:secret, 'secret', 'key', true, :secret, nil],
        [:tree, 'tree', 'keydir', false, :collection, nil]
      ].to_h { |row| [row.first, Operation.new(*row).freeze] }
       .merge(value: Operation.new(:get, 'value', 'key', false, :value, nil).freeze).freeze

      # The operations with one time limit for all their calls of a directory: the second argument of their methods is
      # the deadline. In the other operations, each round trip has that limit.
      BOUNDED = %i[compare_and_put create current delete exists find form get put secret].freeze

      # Options of calls, a copy; the merged options; and the {DirectGet} with them, false if there is none, nil if that
      # is unknown.
      Known = Struct.new(:options, :merged, :direct)

      # A key of this length is short enough with every prefix: `environments/`, a name of 255 bytes, and a slash.
      SURELY_SHORT = 4096 - 269

      # Only the merged options tell whether a key may have capital letters.
      CAPITALS = /[A-Z]/.freeze
      private_constant :Operation, :TABLE, :BOUNDED, :Known, :SURELY_SHORT, :CAPITALS

      # @param adapter [Adapter]
      # @param backends [Backends]
      # @param documents [Documents]
      def initialize(adapter, backends, documents)
        @adapter = adapter
        @backends = backends
        @known = {}
        @advice = Advice.new
        @documents = documents
        @dry_run = DryRun.new(documents)
        listing = Listing.new(documents)
        @performers = { list: listing, tree: listing, snapshot: listing }
        @performers.default = Operations.new(documents)
      end

      # @return [Hash{Hash => Hash}] merged options, frozen, by the options of the calls
      def merged_options
        @known.transform_values(&:merged)
      end

      # Runs the call of a function.
      #
      # @param function [#call_puppet] the Puppet function, see puppet_x/simpkv/function.rb
      # @param scope [Puppet::Parser::Scope]
      # @param name [Symbol] of the operation
      # @param key [String, Array<String>, Hash{String => Object}] the key or folder, or the keys of many
      # @param options [Hash] of the call
      # @param arguments [Array] the others
      # @return [Object] the result of the function
      # @raise [ArgumentError] the key or the configuration is wrong
      # @raise [RuntimeError] the backend fails, unless `softfail` is set
      def run(function, scope, name, key, options, arguments)
        operation = TABLE.fetch(name)
        merged = merged_for(function, scope, key, options)
        doubt_metadata(operation, key, arguments) if operation.writes
        result = outcome(operation, scope, key, arguments, merged, options)
        @adapter.warn_of(@documents.warnings(description(operation, key))) if operation.writes
        presented(operation, key, result, merged, options)
      rescue ConfigError => e
        raise configuration_error(operation, key, e)
      end

      # Runs a call of simpkv::secret. Some of its options describe the secret.
      #
      # @return [Sensitive, nil] see {#run}
      # @raise [ArgumentError, RuntimeError] as {#run}
      def secret(function, scope, key, options)
        request, options = Secrets::Request.split(options)
        run(function, scope, :secret, key, options, [request])
      rescue ConfigError => e
        raise configuration_error(TABLE[:secret], key, e)
      end

      # @return [Boolean] whether simpkv::secret has returned a placeholder to a catalog that somebody may apply
      def placeholder?
        @dry_run.placeholder && !made_up?
      end

      # Makes a form of a secret, for a lookup of Hiera.
      #
      # @param format [String]
      # @param options [Hash] merged options
      # @return [String, nil] nil if the secret is missing or has expired
      # @raise [Error, ConfigError] as {#perform}
      def form(key, format, options)
        perform(:form, key, Secrets::Request.new('format' => format), options, dry: made_up?)
      end

      # Gets a key with options that an earlier get has shown to need no more than a {DirectGet}.
      #
      # @param name [Symbol] of the operation, for messages: `get` or `value`
      # @return [Hash, nil, false] the result of simpkv::get; false if {#run} has to take all steps
      # @raise [ArgumentError, RuntimeError] as {#run}
      def direct_get(key, options, name = :get)
        known = known(options)
        return false unless known&.direct

        data = known.direct.get(key)
        data ? Results.entry(data, known.merged) : false
      rescue ConfigError => e
        raise configuration_error(TABLE[name], key, e)
      rescue Error => e
        fail_softly(TABLE[name], key, e, known.merged)
      end

      # Performs an operation on the chosen backend.
      #
      # @param name [Symbol] of the method
      # @param arguments [Array] those of the method, without the backend and the deadline
      # @param options [Hash] merged options
      # @param dry [Boolean] whether to check the arguments of a write and write nothing
      # @return [Object]
      # @raise [Error] the text names the backend and shows no value
      # @raise [ConfigError]
      def perform(name, *arguments, options, dry: false)
        backend = nil
        arguments.unshift(Deadline.new) if BOUNDED.include?(name) && !dry
        backend = @backends.for(options)
        (dry ? @dry_run : @performers[name]).public_send(name, backend, *arguments)
      rescue ConfigError
        raise
      rescue StandardError, SystemStackError => e
        raise backend ? backend.failure(e) : Error.new(ExceptionText.of(e)), cause: nil
      end

      private

      # @param result [Object, Error] see {#outcome}
      # @return [Object] the result of the function
      def presented(operation, key, result, merged, options)
        return fail_softly(operation, key, result, merged) if result.is_a?(Error)
        return default(operation, options['default'], merged) if result == false && operation.name == :get

        remember_direct(merged) if operation.name == :get
        Results.public_send(operation.presented, result, merged)
      end

      # The result for a missing key. No option makes a Sensitive of undef.
      def default(operation, value, merged)
        Results.public_send(operation.presented, { value: value, metadata: {} }, value.nil? ? {} : merged)
      end

      # Remembers how later calls with these options can get keys directly.
      def remember_direct(merged)
        known = @last
        return unless known.direct.nil? && known.merged.equal?(merged)

        known.direct = DirectGet.with(@performers.default, @backends.for(merged), merged) || false
      end

      # @return [Hash] the merged options, with which all keys of the call are valid
      def merged_for(function, scope, key, options)
        each_key(key) { |each| function.check_key(scope, each) unless each.match?(CAPITALS) }
        merged = merged(function, scope, options)
        each_key(key) { |each| check_merged(function, scope, each, merged) }
        merged
      end

      # Merges once for each distinct set of options. Remembers the result by a copy of the options, because the caller
      # may change them. A `default` belongs to the call alone.
      def merged(function, scope, options)
        options = options.reject { |name, _| name == 'default' } if options.key?('default')
        known = known(options)
        return known.merged if known

        merged = function.call_puppet(scope, 'simpkv::support::config::merge', options, @adapter.backends)
        copy = Config.copy(options)
        (@last = @known[copy] = Known.new(copy, Config.frozen(merged))).merged
      end

      # Compares with the options of the call before, which takes less time than to hash them.
      #
      # @return [Known, nil] what is known of these options
      def known(options)
        last = @last
        return last if last && options.eql?(last.options)

        known = @known[options] unless options.key?('default')
        known && (@last = known)
      end

      def each_key(key)
        return yield key if key.is_a?(String)

        key.each { |each, _| yield each } # rubocop:disable Style/HashEachMethods -- it may be an Array
      end

      # Warns of options in place of metadata.
      def doubt_metadata(operation, key, arguments)
        given = key.is_a?(Hash) ? key.transform_values { |entry| entry['metadata'] } : { key => arguments.last }
        given.each do |name, metadata|
          next unless metadata.is_a?(Hash) && Config.like_options?(metadata)

          names = metadata.keys.join("', '")
          @adapter.warn_of(["#{description(operation, name)} stores options as metadata ('#{names}'): options are in " \
                            'a Hash of their own, after the metadata'])
        end
      end

      # The checks that need the backend: all of a key with capital letters, and the length with the prefix.
      def check_merged(function, scope, key, merged)
        function.check_key(scope, key, Config.case_sensitive?(merged)) if key.match?(CAPITALS)
        @adapter.normalize_key(key, merged) if key.bytesize > SURELY_SHORT
      rescue TooLargeError => e
        raise ArgumentError, e.message
      end

      # @return [Object, Error] the result, or the failure
      def outcome(operation, scope, key, arguments, merged, options)
        # With a default, a missing key is no failure.
        name = operation.name == :get && options.key?('default') ? :find : operation.name
        dry = operation.writes && dry?(operation, scope, key, arguments, merged)
        result = perform(name, key, *arguments, merged, dry: dry)
        (failure_of_keys(operation, key, result[:errors], merged) if operation.named == 'keys') || result
      rescue Error => e
        e
      end

      # @return [Boolean] whether a write is not done
      # @raise [UnencodableError] it is done, and would store a placeholder
      def dry?(operation, scope, key, arguments, merged)
        secret = operation.name == :secret
        return true if (secret && made_up?) || skipped?(operation, scope, key, merged)

        @performers.default.forget unless secret
        raise UnencodableError, Placeholder::DOUBT if placeholder?

        Placeholder.refuse([key, *arguments])
        false
      end

      # Returns true, after a notice, on a node that runs in noop, if its writes are to be skipped.
      def skipped?(operation, scope, key, merged)
        return false if merged['noop_writes'].nil? || Config.flag(merged, 'noop_writes') == 'write' || !noop?(scope)

        Puppet.notice("#{description(operation, key)} is not done: this node runs in noop, and 'noop_writes' is skip")
        true
      end

      # Returns true if nobody applies the catalog: that of a unit test with the kit, or of `puppet lookup --compile`. A
      # secret that is made for it would be of no use.
      def made_up?
        !UnitTest.kit.nil? || !defined?(Puppet::Application::Lookup).nil?
      end

      def noop?(scope)
        facts = scope['facts'] if scope.is_a?(Puppet::Parser::Scope) && scope.include?('facts')
        facts.is_a?(Hash) && facts['clientnoop'].to_s == 'true'
      end

      # @return [Error, nil] the failure if some of many keys failed, unless the caller wants their errors
      def failure_of_keys(operation, key, errors, merged)
        return if errors.empty? || Config.flag(merged, 'errors') == 'return'

        reasons = errors.first(10).map { |name, why| "'#{name}': #{why}" }
        reasons << "and #{errors.length - 10} more" if errors.length > 10
        Error.new("#{errors.length} of #{key.length} keys not #{operation.writes ? 'stored' : 'read'}: " \
                  "#{reasons.join('; ')}")
      end

      def configuration_error(operation, key, error)
        ArgumentError.new("simpkv Configuration Error for #{description(operation, key)}: #{error.message}")
      end

      def fail_softly(operation, key, error, merged)
        advice = @advice.on(error, operation.name, key, merged) { @backends.for(merged) }
        message = "simpkv Error for #{description(operation, key)}: #{error.message}#{advice}"
        raise message unless merged['softfail']

        Puppet.warning(message)
        operation.failed
      end

      # The function and its keys; of many keys, the first three.
      def description(operation, key)
        keys = key.is_a?(String) ? [key] : key.first(3).map { |each, _| each }
        more = " and #{key.length - 3} more" if keys.length > 1 && key.length > 3
        "simpkv::#{operation.function} with #{operation.named}='#{keys.join("', '")}'#{more}"
      end
    end
  end
end
