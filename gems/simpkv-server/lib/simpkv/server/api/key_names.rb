# frozen_string_literal: true

require 'simpkv/server/application'
require 'simpkv/server/status_view'

module Simpkv
  module Server
    module Api
      # Names of keys in all folders, environments and backends: /v1/key_names. An answer has only those that the caller
      # may read, so that a request needs no right of its own.
      class KeyNames < Application
        LIMITS = (1..200).freeze
        # The folder of the global keys in which the documents of the estate are.
        ESTATE = Estate::FOLDER.split('/').last
        private_constant :LIMITS, :ESTATE

        route do |r|
          refuse_conditions
          r.is(['', true]) do
            at('/v1/key_names')
            r.get { json(found(*query('q', 'limit').values_at('q', 'limit'))) }
          end
        end

        private

        # @return [Hash{String => Object}]
        def found(text, limit)
          raise Problem.new(400, "the parameter 'q' is missing: the text that names have") if text.to_s.strip.empty?

          most = limit ? Coercion.convert(LIMITS, limit) : LIMITS.max
          raise Problem.new(400, "the parameter 'limit' must be #{Coercion.needed(LIMITS)}") unless most

          errors = {}
          keys = rights.reads_keys?(caller) ? names(Regexp.escape(text.strip), errors) : []
          shown = keys.min(most).map do |name, root, backend|
            { 'name' => name, 'environment' => environment(root), 'backend' => backend }
          end
          { 'keys' => shown, 'total' => keys.length, 'errors' => errors }
        end

        # @param root [String] an environment; empty for the global keys, so that it can be compared
        # @return [String, nil]
        def environment(root)
          root unless root.empty?
        end

        # @param text [String] of a regular expression
        # @return [Array<Array(String, String, String)>] name, environment and backend of each key; the environment of
        #   the global keys is empty
        def names(text, errors)
          site.backend_names.sort.flat_map do |backend|
            found = in_backend(backend, text)
            found = found.select { |name, root| rights.key?(caller, name, environment(root), backend) }
            found.map { |key| [*key, backend] }
          rescue Error, ConfigError => e
            errors[backend] = rights.findings?(caller) ? e.message : StatusView::UNREADABLE
            []
          end
        end

        # @return [Array<Array(String, String)>] name and environment of each key that has the text in its name
        def in_backend(backend, text)
          _, store = site.store(caller, backend)
          environments = below(store, 'environments').grep(%r{\A[^/]*/.*#{text}}mi)
          globals(store).grep(/#{text}/i).map { |name| [name, ''] } +
            environments.map { |path| path.split('/', 2).reverse }
        end

        # The names of the estate's documents are not read: there are more of them than of all others.
        #
        # @return [Array<String>]
        def globals(store)
          top = store.list('globals', required: false, chosen: ->(_) { [] })
          (top[:folders] - [ESTATE]).reduce(names_of(top)) do |names, folder|
            names + below(store, "globals/#{folder}").map { |name| "#{folder}/#{name}" }
          end
        end

        # @return [Array<String>] the names of the keys below a folder
        def below(store, folder)
          names_of(store.tree(folder, values: false, required: false))
        end

        # @raise [MalformedError] some cannot be listed
        def names_of(found)
          raise MalformedError.unreadable(*found[:errors].first) if found[:errors].any?

          found[:keys].keys
        end
      end
    end
  end
end
