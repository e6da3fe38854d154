# frozen_string_literal: true

require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    # The common part of commands that read several keys: they get the documents of all of them, or fail.
    module SeveralKeys
      include Versioned

      private

      def define_folder(parser)
        parser.on('--recurse FOLDER', 'all keys of a folder, and of the folders in it') { |folder| @folder = folder }
        parser.on('--prefix TEXT', "names of variables: TEXT, and the path in FOLDER; '' for the path alone") do |text|
          @prefix = text
        end
      end

      # @param keys [Array<String>]
      # @return [Hash{String => String}] the documents, also those that have expired, by key
      # @raise [Failure] a key is missing or cannot be read
      def documents(keys)
        paths = keys.to_h { |key| [key, existing(key)] }
        return paths.transform_values { |path| about(keys.first) { reading.get(path) } } if keys.one?

        outcomes = about(keys.join("', '")) { reading.get_many(paths.values.uniq) }
        for_each(paths) do |_, path|
          outcome = outcomes[path]
          outcome.is_a?(String) ? outcome : raise(outcome)
        end
      end

      # @param folder [String]
      # @param expired [Boolean] whether to return also those that have expired
      # @return [Hash{String => String}] the documents of all keys below the folder, by key
      # @raise [Failure] the folder is missing, or a key cannot be read
      def documents_below(folder, expired)
        root = path_of(folder)
        about_folder(folder) { reading.list(root) { nil } } unless root == backend.prefix
        found = {}
        errors = {}
        about_folder(folder) do
          Walk.new(reading).each([root], errors) { |path, document| found[below(path)] = document }
        end
        refuse(errors.to_h { |path, why| [below(path), MalformedError.new(why)] })
        found.reject! { |_, document| Value.expired?(document) } unless expired
        found.sort.to_h
      end

      # @param path [String]
      # @return [String] the key, as manifests write it
      def below(path)
        path.delete_prefix("#{backend.prefix}/")
      end

      # @param entries [Hash{String => Object}] by key
      # @yieldparam key [String]
      # @yieldparam entry [Object]
      # @return [Hash{String => Object}] the results of the block, by key
      # @raise [Failure] the block raises an error for some of the keys
      def for_each(entries)
        errors = {}
        results = entries.to_h do |key, entry|
          [key, yield(key, entry)]
        rescue Simpkv::Error => e
          [key, errors[key] = e]
        end
        refuse(errors)
        results
      end

      # @param errors [Hash{String => Simpkv::Error}] by key
      # @return [void]
      # @raise [Failure] there are errors: the message names the keys, and the exit code is that of the first one
      def refuse(errors)
        return if errors.empty?

        key, first = errors.first
        raise failure_about(key, first, backend.explain(first)) if errors.one?

        lines = errors.map { |name, error| "'#{Output.name(name)}': #{backend.explain(error)}" }
        raise Failure.new("#{backend.title}: #{errors.length} keys cannot be used:\n#{Output.some(lines)}",
                          Failure.code_for(first))
      end

      # The names of variables begin with what the user has written: a key, the folder, or --prefix.
      #
      # @param values [Hash{String => Object}] by key
      # @param field [Array<String>] the end of the names
      # @return [Hash{String => Object}] the values, by name of a variable
      # @raise [Failure] no variable can have the name, or two keys have one
      def variables(values, field = [])
        refuse_all_keys
        start = @prefix ? "#{below(path_of(@folder))}/" : ''
        keys = {}
        for_each(values) do |key, _|
          name = Variables.name([key.delete_prefix(start), *field].join('_'), @prefix.to_s)
          other = keys[name]
          raise UnencodableError, "the variable #{name} would also have the value of '#{other}'" if other

          keys[name] = key
        end
        keys.transform_values { |key| values[key] }
      end

      def check_prefix
        raise Failure.new('--prefix needs --recurse FOLDER', Failure::USAGE) if @prefix && @folder.nil?
      end

      def refuse_all_keys
        return if @prefix || @folder.nil? || path_of(@folder) != backend.prefix

        raise Failure.new('with --recurse and all keys, variables need --prefix TEXT, such as APP1_: a key could set ' \
                          "a variable that a program obeys. With --prefix '', only known ones are refused",
                          Failure::USAGE)
      end
    end
  end
end
