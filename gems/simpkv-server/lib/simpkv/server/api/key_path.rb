# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # A key or a folder, as a request names it.
      class KeyPath
        PARAMETERS = %w[backend environment global].freeze
        # The environment of a request that names none, as for the command.
        DEFAULT = 'production'
        private_constant :DEFAULT

        # @return [String] as manifests write it; empty for the root of an environment or of the global keys
        attr_reader :name

        # @return [String, nil] the environment; nil for the global keys
        attr_reader :environment

        # @param name [String] with a slash at its end for a folder
        # @param query [Hash{String => String}]
        # @param global [Boolean]
        # @raise [Problem] the environment is no name of one
        def initialize(name, query, global)
          @folder = name.empty? || name.end_with?('/')
          @name = name.chomp('/')
          environment = query['environment']
          raise Problem.new(400, "'environment' and global=true exclude each other") if global && environment

          @environment = environment_of(environment || DEFAULT) unless global
        end

        # @return [Boolean] whether the request names a folder: the path ends with a slash, or is empty
        def folder?
          @folder
        end

        # @param recurse [Boolean] whether the request is also about what is below a folder
        # @return [Boolean] whether the request reaches documents of the estate, which have an API of their own
        def estate?(recurse)
          return false unless environment.nil?

          first = name.split('/').first
          first.nil? ? recurse : first == Estate::FOLDER.split('/').last
        end

        # @return [Problem] there is nothing of this name
        def missing
          return Problem.new(404, "there is no key or folder '#{name}'") unless name.empty?

          Problem.new(404, "there are no keys in #{environment || 'the global keys'}")
        end

        # @param backend [Backend]
        # @return [String] the path in the store
        # @raise [InvalidError, TooLargeError] a name could lead elsewhere, or is too long
        def in(backend)
          Native.key_check(name, backend.case_sensitive?) unless name.empty?
          Native.key_join(Config.prefix('environment' => environment, 'global' => environment.nil?), name)
        rescue TooLargeError => e
          raise InvalidError, e.message, cause: nil
        end

        private

        def environment_of(name)
          Coercion.convert(:environment, name) ||
            raise(Problem.new(400, "'environment' must be the name of an environment"))
        end
      end
    end
  end
end
