# frozen_string_literal: true

require 'simpkv/cli/failure'
require 'simpkv/cli/output'

module Simpkv
  module Cli
    # A file with data that the user names on the command line. `-` is standard input, or standard output.
    module DataFile
      STREAM = '-'

      # @return [IO] standard input
      # @raise [Failure] this command has read it already
      def self.standard_input
        if $stdin.equal?(@taken)
          raise Failure.new('the command line names standard input twice: name a file for one of them', Failure::USAGE)
        end

        @taken = $stdin
      end

      # @param file [String]
      # @return [String] its name, for messages
      def self.title(file)
        file == STREAM ? 'standard input' : Output.name(file)
      end

      # @param file [String]
      # @param what [String] the option or argument that names it
      # @return [String] the file
      # @raise [Failure] it is `-`, which cannot be such a file
      def self.path(file, what)
        return file unless file == STREAM

        raise Failure.new("#{what} must be a file, and - is standard input: write ./- for a file of that name",
                          Failure::USAGE)
      end

      # @param file [String] YAML or JSON; `-` is standard input
      # @yieldparam data [Object] plain data
      # @yieldreturn [Object] what is made of them
      # @return [Object] that; without a block, the data
      # @raise [Failure] it cannot be read; the message quotes nothing of it
      # @raise [SystemCallError]
      def self.read(file)
        require 'simpkv/document/plain_yaml'
        data = PlainYaml.parse(file == STREAM ? standard_input.read : File.read(file), strict: true)
        block_given? ? yield(data) : data
      rescue Errno::ENOENT
        raise Failure.new("there is no file '#{file}'", Failure::NO_INPUT)
      rescue Errno::EISDIR
        raise Failure.new("'#{file}' is a folder, not a file", Failure::NO_INPUT)
      rescue SystemStackError
        raise Failure.new("file '#{file}' is nested too deeply", Failure::DATA), cause: nil
      rescue MalformedError => e
        raise Failure.new("file '#{file}': #{e.message}", Failure::DATA), cause: nil
      end

      # @param file [String] `-` is standard input
      # @return [String] its content
      # @raise [Failure] there is no such file
      # @raise [SystemCallError]
      def self.bytes(file)
        file == STREAM ? standard_input.binmode.read : File.binread(file)
      rescue Errno::ENOENT
        raise Failure.new("there is no file '#{file}'", Failure::NO_INPUT)
      rescue Errno::EISDIR
        raise Failure.new("'#{file}' is a folder, not a file", Failure::NO_INPUT)
      end
    end
  end
end
