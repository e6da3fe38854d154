# frozen_string_literal: true

require 'simpkv/server/application'
require 'simpkv/server/open_api'

module Simpkv
  module Server
    module Api
      # Who asks, and what the caller may do: /v1/whoami. It needs no right.
      class Whoami < Application
        route do |r|
          refuse_conditions
          r.is(['', true]) do
            at('/v1/whoami')
            r.get { json(plain { description }) }
          end
        end

        private

        def description
          { 'name' => caller.to_s, 'kind' => caller.kind.to_s, 'groups' => caller.groups,
            'values' => rights.values?(caller), 'rights' => rights.entries(caller), 'keys' => keys,
            'token' => token, 'paths' => rights.methods_by_path(caller, paths) }
        end

        # @return [Hash{String => Array<String>}] the methods of each path
        def paths
          OpenApi.document['paths'].transform_values { |item| item.keys.map(&:upcase) & Rights::METHODS }
        end

        # @return [Array<Hash>] the paths of keys that the caller may read
        def keys
          rights.key_paths(caller).map do |path, below, environments, backends|
            { 'path' => "#{path}#{'/**' if below}", 'environments' => environments, 'backends' => backends }.compact
          end
        end

        # @return [Hash, nil]
        def token
          caller.token&.plain&.slice('maker', 'expires')
        end
      end
    end
  end
end
