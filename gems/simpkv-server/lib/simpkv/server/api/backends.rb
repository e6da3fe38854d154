# frozen_string_literal: true

require 'simpkv/server/application'

module Simpkv
  module Server
    module Api
      # Backends and the environments in them: /v1/backends.
      class Backends < Application
        route do |r|
          refuse_conditions
          r.is(['', true]) do
            at('/v1/backends')
            r.get { json(plain { { 'backends' => backends } }) }
          end
          r.is(String) do |name|
            at('/v1/backends/{backend}')
            r.get { json(plain { backend_with_environments(name) }) }
          end
        end

        private

        # @return [Array<Hash>] those that the caller's rights do not exclude
        def backends
          names = site.backend_names.select { |name| rights.backend?(caller, request, name) }
          names.sort.map { |name| summary_of(name) }
        end

        def summary_of(name)
          { 'name' => name, 'type' => site.backend(name).type, 'default' => name == site.default_backend }
        end

        def backend_with_environments(name)
          known = site.backend_names.include?(name) && rights.backend?(caller, request, name)
          raise Problem.new(404, "there is no backend '#{name}', or the caller's rights exclude it") unless known

          _, store = site.store(caller, name)
          names = store.list('environments', required: false)[:folders].sort
          summary_of(name).merge('environments' => names.select { |each| rights.keys?(caller, request, each, name) })
        end
      end
    end
  end
end
