# frozen_string_literal: true

require 'simpkv/server/api/conditions'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Api
      # What a caller may do with the key or the folder of a request.
      class KeyRights
        # @param rights [Rights]
        # @param caller [Caller]
        # @param request [Rack::Request]
        # @param path [KeyPath]
        # @param backend [String] the name of the backend
        def initialize(rights, caller, request, path, backend)
          @rights = rights
          @caller = caller
          @request = request
          @path = path
          @backend = backend
        end

        # @param recurse [Boolean] whether the request is about what is below a folder, too
        # @return [void]
        # @raise [Problem]
        def check(recurse)
          check_estate(recurse)
          return if @rights.keys?(@caller, @request, @path.environment, @backend)

          place = @path.environment || 'the global keys'
          raise Problem.new(403, "#{@caller} has no right in #{place} of the backend '#{@backend}': 'environments' " \
                                 "or 'backends' in 'rights' of 'server' does not allow it")
        end

        # The keys below a folder have paths of their own.
        #
        # @return [Boolean] whether the caller may send the request for them, too
        def below?
          @rights.keys?(@caller, @request, @path.environment, @backend, below: true)
        end

        # @return [void]
        # @raise [Problem]
        def check_below
          return if below?

          raise Problem.new(403, "#{@caller} has no right to all keys below #{@request.path}: 'rights' of 'server' " \
                                 'needs a path that ends with /**. values=false lists the names of a folder')
        end

        # As {#check} and {#check_below}, for the folder with all that is below it.
        #
        # @return [void]
        # @raise [Problem]
        def check_all
          check(true)
          check_below
        end

        # @param rights [Rights] those of now
        # @param caller [Caller] the one of now
        # @return [KeyRights] for the same request
        def again(rights, caller)
          KeyRights.new(rights, caller, @request, @path, @backend)
        end

        # @return [void]
        # @raise [Problem]
        def check_values
          return if values?

          raise Problem.new(403, 'values of keys are not shown on a connection without TLS: use a Unix socket, or ' \
                                 'ssl://. values=false lists the names of a folder')
        end

        # @return [Boolean] whether the caller may see values
        def values?
          @rights.values?(@caller)
        end

        # @return [Boolean] whether the caller gets the entity tag. A short value can be guessed by it: callers who may
        #   not see the value do not get it
        def tag?
          values? && readable?
        end

        # @return [Array<String>] the methods by which the caller may change the key or the folder
        def changes
          @path.estate?(true) ? [] : @rights.changes(@caller, @request, @path, @backend)
        end

        # @return [Conditions] those of a request that changes a key
        # @raise [Problem] they would tell a caller who may not GET the key whether a guessed entity tag is its own
        def conditions
          conditions = Conditions.new(@request.env)
          return conditions if conditions.tags.empty? || readable?

          raise Problem.new(403, "#{@caller} may use If-Match and If-None-Match only with '*': 'rights' of 'server' " \
                                 "does not allow to GET #{@request.path}")
        end

        private

        # Root and the user of the service may read the documents of the estate. Nobody changes them as keys.
        def check_estate(recurse)
          return if !@path.estate?(recurse) || (@caller.owner? && (@request.get? || @request.head?))

          raise Problem.new(403, 'the documents of the estate are no keys: see /v1/nodes and /v1/inspection_rules')
        end

        # @return [Boolean] whether the caller may GET the key. Its earlier values can be guessed by the entity tag
        def readable?
          @rights.key?(@caller, @path.name, @path.environment, @backend)
        end
      end
    end
  end
end
