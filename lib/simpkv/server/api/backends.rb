# frozen_string_literal: true

module Simpkv
  module Server
    # Backends and the environments in them: /v1/backends.
    class Application
      hash_branch('/v1', 'backends') do |r|
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
        site.backend_names.select { |name| rights.backend?(caller, request, name) }.sort.map { |name| summary_of(name) }
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
