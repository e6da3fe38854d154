# frozen_string_literal: true

require 'simpkv/cli/data_file'

module Simpkv
  module Cli
    # Files of Hiera, in YAML.
    class HieraFiles
      ENDINGS = 'yaml,yml,eyaml'
      private_constant :ENDINGS

      # @param data [Object] of a file
      # @yieldparam text [String]
      # @return [Boolean] whether the block is true for a text in the data, at any depth
      def self.text?(data, &block)
        case data
        when String then yield data
        when Array then data.any? { |member| text?(member, &block) }
        when Hash then text?(data.keys, &block) || text?(data.values, &block)
        else false
        end
      end

      # @return [String] the names that were given
      attr_reader :title

      # @param names [Array<String>] files, and folders of files; `-` is standard input
      def initialize(names)
        @names = names
        @title = names.map { |name| DataFile.title(name) }.join(', ')
      end

      # Reads each file.
      #
      # @yieldparam file [String] its name
      # @yieldparam level [String, nil] its path in the folder that was given, without its ending; nil for a file that
      #   was given itself
      # @yieldparam data [Hash{Object => Object}]
      # @return [void]
      # @raise [Failure] a file cannot be read, or has no Hash
      def each
        @names.each do |name|
          next yield(DataFile.title(name), nil, data(name)) unless File.directory?(name)

          inside(name).each { |path| yield File.join(name, path), path.sub(/\.\w+\z/, ''), data(File.join(name, path)) }
        end
      end

      private

      # @return [Array<String>] paths in the folder, sorted
      def inside(folder)
        found = Dir.glob("**/*.{#{ENDINGS}}", base: folder).select { |path| File.file?(File.join(folder, path)) }.sort
        return found if found.any?

        raise Failure.new("'#{Output.name(folder)}' has no files *.{#{ENDINGS}}", Failure::NO_INPUT)
      end

      def data(file)
        data = DataFile.read(file)
        # A file of comments is empty.
        return data || {} if data.is_a?(Hash) || !data

        raise Failure.new("file '#{Output.name(file)}' has no Hash: it is no data of Hiera", Failure::DATA)
      end
    end
  end
end
