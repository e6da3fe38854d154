# frozen_string_literal: true

module Simpkv
  class Adapter
    # A store over a third-party plugin: the methods of {Store} that the adapter calls, with the same parameters and
    # errors. It ignores deadlines, because plugins bound their time themselves. No other code knows the `{ result:,
    # err_msg: }` of a plugin. A plugin may raise anything, return anything, and lack optional methods.
    # plugin_template.rb and docs/plugin-development.md describe the plugin's side.
    class PluginStore
      # @param plugin [Object]
      def initialize(plugin)
        @plugin = plugin
      end

      # rubocop:disable Lint/UnusedMethodArgument -- the parameters are those of Store

      # @param required [Boolean] whether a missing key is a failure; otherwise nil is returned for it
      # @return [String, nil] the document
      # @raise [PluginError] also for a missing key
      def get(key, latest: false, stored: false, required: true, deadline: nil)
        return call(:get, key) if required

        fetch = [(:fetch_latest if latest), :fetch].compact.find { |each| has?(each) }
        return call(fetch, key) || nil if fetch

        call(:get, key) if call(:exists, key)
      end

      # @raise [PluginError] always
      def stat(key, count: false, document: false, deadline: nil)
        raise PluginError, 'a third-party plugin does not tell when a key was changed, nor by whom'
      end

      # Stores a document. If the plugin has no method for the condition, reads first: then a write of another process
      # in between is lost.
      #
      # @param keep_encrypted [Boolean] as {Store#put}. Without a condition, this takes one call of the plugin more
      # @return [Boolean] false if the document is the expected one, which is stored already
      # @raise [ExistsError, ConflictError] the condition does not hold
      # @raise [DeniedError] the stored document is encrypted, and this one is not
      def put(key, document, condition: :any, expect: nil, non_unique: false, keep_encrypted: true, deadline: nil) # rubocop:disable Metrics/ParameterLists
        demand_plain(key, document, condition, expect) if keep_encrypted
        case condition
        when :absent then put_new(key, document) || raise(ExistsError, "'#{key}' exists")
        when :expect then return replace(key, expect, document)
        else call(:put, key, document)
        end
        true
      end

      # @return [false] see {Store#refuse_put}
      def refuse_put(_key)
        false
      end

      def exist?(key, deadline: nil)
        call(:exists, key)
      end

      # @raise [PluginError] also with `expect`: no method of a plugin compares before it deletes
      def delete(key, expect: nil, deadline: nil)
        raise PluginError, 'a third-party plugin deletes a key whatever its document is' if expect

        call(:delete, key) && true
      end

      def deletetree(folder)
        call(:deletetree, folder) && true
      end

      # @return [Hash{String => String, Error}] by path: the document, or the reason why there is none
      def get_many(keys)
        outcomes(keys, :get_many, keys) { |path| get(path, required: false) || false }.transform_values do |outcome|
          case outcome
          when String, Error then outcome
          when false then NotFoundError.new('Key not found')
          else failure(outcome, 'get_many returned neither a document nor a reason')
          end
        end
      end

      # @param condition [Symbol] as of {#put}; the plugin's own `put_many` has no conditions
      # @param expect [Hash{String => String, nil}, nil] as {Store#put_many}
      # @param keep_encrypted [Boolean] as of {#put}
      # @return [Hash{String => Boolean, Error}] by path
      def put_many(documents, condition: :any, expect: nil, keep_encrypted: true)
        options = { condition: condition, keep_encrypted: keep_encrypted }
        return put_each(documents, expect, **options) if condition != :any || !has?(:put_many)

        refused = keep_encrypted ? refusals(documents) : {}
        stored = put_any_of(documents.reject { |path, _| refused.key?(path) })
        documents.to_h { |path, _| [path, refused.fetch(path) { stored[path] }] }
      end

      # @param required [Boolean] whether a missing folder is a failure; otherwise it is empty
      # @param partial [Boolean] whether keys that cannot be read become errors, if the plugin can tell; otherwise the
      #   list fails
      # @return [Hash] `{ keys: { name => document }, folders: [name], errors: { name => why } }`
      def list(folder, required: true, partial: true, chosen: nil, deadline: nil, &block)
        raise PluginError, 'a third-party plugin reads all documents of a folder' if chosen

        listing(:list_present, folder, [], required, block) do
          call(partial && has?(:list_partial) ? :list_partial : :list, folder, &block)
        end
      end

      # Lists a folder and all folders below it, by paths.
      #
      # @param values [Boolean] whether the caller needs documents; otherwise any text is in their place
      # @return [Hash] as {#list}
      def tree(folder, values: true, required: true, &block)
        return walk(folder, values, required, block) unless has?(:tree)

        listing(:tree_present, folder, [values], required, block) { call(:tree, folder, values, &block) }
      end

      # rubocop:enable Lint/UnusedMethodArgument

      private

      def has?(operation)
        @plugin.respond_to?(operation)
      end

      # @return [Object] the result
      # @raise [PluginError] the plugin raises, reports a failure, or returns an invalid result
      def call(operation, *arguments, &block)
        raise PluginError, "the plugin has no method '#{operation}'" unless has?(operation)

        returned = contained { @plugin.public_send(operation, *arguments, &block) }
        raise PluginError, "#{operation} did not return a Hash" unless returned.is_a?(Hash)

        why = returned[:err_msg].to_s
        raise PluginError, why unless why.empty?
        return returned[:result] if PluginResults.valid?(operation, returned[:result])

        raise PluginError, "#{operation} returned no result and no reason"
      rescue PluginError => e
        raise arguments.first.is_a?(String) ? e.about(arguments.first) : e
      end

      # Runs code of a plugin. Its exceptions become PluginErrors, except for those that end the process.
      def contained
        yield
      rescue SystemExit, SignalException, NoMemoryError
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException -- a plugin may raise anything
        raise PluginError, ExceptionText.of(e), cause: nil
      end

      # @raise [DeniedError] the stored document is encrypted, and the new one is not
      def demand_plain(path, document, condition, expect)
        return if condition == :absent || Codec.encrypted?(document)

        stored = condition == :expect ? expect : get(path, latest: true, required: false)
        raise kept(path) if stored && Codec.encrypted?(stored)
      end

      # @return [Hash{String => Error}] by path, why a document cannot be put without a condition
      def refusals(documents)
        plain = documents.reject { |_, document| Codec.encrypted?(document) }
        stored = get_many(plain.keys).reject { |_, document| document.is_a?(NotFoundError) }
        stored.select { |_, document| document.is_a?(Error) || Codec.encrypted?(document) }
              .to_h { |path, document| [path, document.is_a?(Error) ? document : kept(path)] }
      end

      def kept(path)
        DeniedError.new("Key write to '#{path}' failed: #{Codec::ENCRYPTED}")
      end

      def put_any_of(documents)
        outcomes(documents.keys, :put_many, documents).transform_values do |outcome|
          case outcome
          when true, Error then outcome
          else failure(outcome, 'put_many returned neither true nor a reason')
          end
        end
      end

      # @return [Boolean]
      def replace(path, old, document)
        return confirm(path, document) if document == old

        exchange(path, old, document) || raise(ConflictError, "'#{path}' has changed")
        true
      end

      # @return [false]
      def confirm(path, document)
        stored = get(path, latest: true, required: false)
        raise ConflictError, "'#{path}' has changed" unless stored && stored.b == document.b

        false
      end

      def put_each(documents, expect, condition:, keep_encrypted:)
        documents.to_h do |path, document|
          old = expect[path] if expect
          [path, put(path, document, condition: expect && old.nil? ? :absent : condition, expect: old,
                                     keep_encrypted: keep_encrypted)]
        rescue Error => e
          [path, e]
        end
      end

      def put_new(path, document)
        return call(:put_new, path, document) if has?(:put_new)

        !call(:exists, path) && call(:put, path, document)
      end

      def exchange(path, old, document)
        return call(:exchange, path, old, document) if has?(:exchange)

        now = get(path, required: false)
        now && now.b == old.b && call(:put, path, document)
      end

      # @return [Hash{String => Object}] the plugin's result for each path, or that of the block, or an error
      def outcomes(paths, operation, argument)
        results = call(operation, argument) if has?(operation)
        paths.to_h do |path|
          [path, results ? results.fetch(path) { failure(nil, "#{operation} says nothing of it") } : yield(path)]
        rescue PluginError => e
          [path, e]
        end
      end

      # @param outcome [Object] the plugin's, perhaps `{ err_msg: why }`
      def failure(outcome, otherwise)
        why = outcome[:err_msg].to_s if outcome.is_a?(Hash)
        PluginError.new(why.nil? || why.empty? ? otherwise : why)
      end

      # Lists with the block. If the folder may be missing, uses the plugin's method for that, if it has one.
      def listing(present, path, arguments, required, block)
        empty = { keys: {}, folders: [], errors: {} }
        return empty.merge(call(present, path, *arguments, &block) || {}) if !required && has?(present)

        begin
          empty.merge(yield)
        rescue PluginError
          raise if required || !missing?(path)

          empty
        end
      end

      def missing?(path)
        !call(:exists, path)
      rescue PluginError
        false
      end

      # Lists one folder after the other. A folder that another process deletes meanwhile is empty.
      def walk(path, values, required, block)
        tree = { keys: {}, folders: [], errors: {} }
        places = ['']
        while (place = places.shift)
          here = list(Native.key_join(path, place), required: required && place.empty?) do |name, document|
            block&.call("#{place}#{name}", document)
          end
          add(tree, here, place, values)
          places.concat(here[:folders].map { |name| "#{place}#{name}/" })
        end
        tree
      end

      # A key that cannot be read still has a name.
      def add(tree, here, place, values)
        tree[:folders].concat(here[:folders].map { |name| "#{place}#{name}" })
        here[:keys].each { |name, document| tree[:keys]["#{place}#{name}"] = document }
        here[:errors].each { |name, why| tree[values ? :errors : :keys]["#{place}#{name}"] = why }
      end
    end
  end
end
