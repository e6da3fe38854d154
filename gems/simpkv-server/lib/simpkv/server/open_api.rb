# frozen_string_literal: true

require 'simpkv/document/plain_yaml'

module Simpkv
  module Server
    # The description of the API, OpenAPI 3.1: openapi.yaml in this folder.
    module OpenApi
      FILE = File.expand_path('openapi.yaml', __dir__)
      private_constant :FILE

      # @return [Hash{String => Object}]
      def self.document
        @document ||= PlainYaml.parse(File.read(FILE))
      end
    end
  end
end
