# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/inspection'

module Simpkv
  module Cli
    # The facts of a node, in a file that the user names on the command line.
    module GivenFacts
      # @param file [String] as for {DataFile.read}
      # @return [Hash{String => Object}] see {Inspection::GivenFacts}
      # @raise [Failure]
      # @raise [SystemCallError]
      def self.read(file)
        DataFile.read(file) do |data|
          Inspection::GivenFacts.of(data) ||
            raise(Failure.new("file '#{file}' must have a Hash, the facts of a node", Failure::DATA))
        end
      end
    end
  end
end
