# frozen_string_literal: true

require 'simpkv/cli/failure'
require 'simpkv/plain_yaml'

module Simpkv
  module Cli
    # A file with data that the user names on the command line.
    module DataFile
      # @param file [String] YAML or JSON; `-` is standard input
      # @return [Object] plain data
      # @raise [Failure] it cannot be read; the message quotes nothing of it
      # @raise [SystemCallError]
      def self.read(file)
        text = file == '-' ? $stdin.read : File.read(file)
        PlainYaml.parse(text.force_encoding(Encoding::UTF_8))
      rescue Errno::ENOENT
        raise Failure.new("there is no file '#{file}'", Failure::NO_INPUT)
      rescue MalformedError => e
        raise Failure.new("file '#{file}' is neither YAML nor JSON: #{e.message}", Failure::DATA), cause: nil
      end
    end
  end
end
