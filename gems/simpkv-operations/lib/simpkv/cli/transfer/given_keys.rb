# frozen_string_literal: true

require 'simpkv/cli/value'
require 'simpkv/document/placeholder'

module Simpkv
  module Cli
    # Keys that a command has read from files of another program, as the source of a transfer. It keeps their documents
    # in memory. If anything cannot be stored, {check} refuses all keys.
    class GivenKeys
      # @return [String]
      attr_reader :title

      # @return [Hash{String => String}] by path, where the key comes from
      attr_reader :origins

      # @param title [String] the names of the files
      # @param target [ChosenBackend]
      # @param into [String] the folder of all keys
      def initialize(title, target, into)
        @title = title
        @target = target
        @into = into.gsub(%r{\A/+|/+\z}, '')
        @documents = {}
        @origins = {}
        @problems = {}
      end

      # Takes a key. Notes what is wrong with its name or its value.
      #
      # @param name [String] of the key, in the folder
      # @param origin [String] where it comes from, for messages
      # @yieldreturn [String, nil] its document; nil if there is a problem. One with a placeholder is refused
      # @return [void]
      # @raise [Failure] two keys have the same name
      def add(name, origin)
        key = @into.empty? ? name : "#{@into}/#{name}"
        # Names with capital letters are left to the transfer.
        Native.key_check(key, true)
        path = @target.path(key)
        return problem(origin, "'#{name}' is no name of a key") if Config.root?(path)
        return problem(origin, twice(@origins[path], origin, name)) if @origins.key?(path)

        @origins[path] = origin
        document = yield
        Placeholder.refuse(document)
        @documents[path] = document if document
      rescue InvalidError, TooLargeError, UnencodableError => e
        problem(origin, e.message)
      end

      # @return [String]
      def twice(first, origin, name)
        return "there are two of this name, and only one can be stored: delete one in #{@title}" if first == origin

        "its key is '#{name}', and so is that of '#{first}': rename or leave out one of them"
      end

      # Notes a reason why nothing can be stored.
      #
      # @param origin [String]
      # @param why [String] quotes no value
      # @return [nil]
      def problem(origin, why)
        @problems[origin] ||= why
        nil
      end

      # @return [void]
      # @raise [Failure] there are problems; names the first 20
      def check
        return if @problems.empty?

        lines = Output.some(@problems.map { |origin, why| Output.name("#{origin}: #{why}") })
        raise Failure.new("#{Output.count(@problems.length, 'problem')}:\n#{lines}\nNothing was stored", Failure::DATA)
      end

      # @param roots [Array<String>]
      # @yieldparam path [String]
      # @yieldparam document [String]
      # @return [void]
      def each(roots, _errors, &block)
        prefixes = roots.map { |root| "#{root}/" }
        @documents.select { |path, _| path.start_with?(*prefixes) }.each(&block)
      end

      # @param paths [Array<String>]
      # @return [Hash{String => String}] their documents
      def read_many(paths)
        paths.to_h { |path| [path, @documents[path]] }.compact
      end
    end
  end
end
