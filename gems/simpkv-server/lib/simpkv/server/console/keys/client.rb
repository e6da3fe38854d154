# frozen_string_literal: true

require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # The requests of the pages about one place.
        class Client
          # One entity tag. With `*` or a list of tags, a form would replace what its page has not shown.
          ETAG = /\A"[^"]*"\z/.freeze
          private_constant :ETAG

          # @return [Place]
          attr_reader :place

          # @param api [Api]
          # @param place [Place]
          def initialize(api, place)
            @api = api
            @place = place
          end

          # @param place [Place]
          # @return [Client] for another place
          def at(place)
            self.class.new(@api, place)
          end

          # @param query [Hash{Symbol => Object}] more parameters
          # @return [Hash] a part of the folder, without values
          def folder(**query)
            told(request('GET', values: false, errors: 'return', **query)).data
          end

          # @param method [String]
          # @return [Boolean] whether the rights of the caller allow it for the place, as the last answer about it says
          def may?(method)
            @allowed.to_a.include?(method)
          end

          # @return [Hash{String => Integer}] how many keys and folders are below the folder, expired keys among them
          def size
            folder(recurse: true, expired: true, limit: 1)['total']
          end

          # @return [Api::Answer] the key without its value; or a folder, if it is one
          def description
            told(request('GET', values: false, expired: true, limit: 1, errors: 'return'))
          end

          # @param version [Integer, String]
          # @return [Api::Answer] the key with its value: a read that the audit log records
          def value(version)
            request('GET', version: version, expired: true)
          end

          # @param data [Hash] the body
          # @param etag [String] of the document to replace; empty if there must be none, or one that has expired
          # @return [Api::Answer]
          # @raise [Problem] 412: another document is stored; 400: this is no entity tag
          def put(data, etag)
            condition = etag.empty? ? { 'HTTP_IF_NONE_MATCH' => '*' } : match(etag)
            @api.request('PUT', @place.api_path, query: @place.scope, data: data, headers: condition)
          end

          # @param etag [String] of the document to delete; empty for whatever is stored
          # @return [void]
          # @raise [Problem] as {#put}
          def delete(etag)
            @api.request('DELETE', @place.api_path, query: @place.scope, headers: etag.empty? ? {} : match(etag))
          end

          # @param version [String] an earlier one
          # @param etag [String] of the document that has it
          # @return [void]
          # @raise [Problem] as {#put}
          def delete_version(version, etag)
            @api.request('DELETE', @place.api_path, query: @place.scope.merge(version: version), headers: match(etag))
          end

          # Deletes the folder with all that is below it.
          #
          # @return [void]
          def delete_folder
            request('DELETE', recurse: true)
          end

          # @param environments [Boolean] whether to ask the store for them
          # @return [Choice] what there is beside this place
          def choice(environments: true)
            backends = @api.get('/v1/backends')['backends']
            chosen = backends.find { |each| @place.backend ? each['name'] == @place.backend : each['default'] }
            found = chosen && environments && @api.get(Api.path('v1', 'backends', chosen['name']))
            Choice.new(@place, backends, found || nil, nil)
          rescue Problem, Error, ConfigError => e
            Choice.new(@place, backends, nil, Problem.of(e).message)
          end

          private

          def match(etag)
            return { 'HTTP_IF_MATCH' => etag } if etag.match?(ETAG)

            raise Problem.new(400, 'the form does not say which value it is about: load the page again. Nothing was ' \
                                   'changed')
          end

          # @return [Api::Answer] the same
          def told(answer)
            @allowed = answer.headers.fetch('allow', '').split(', ')
            answer
          end

          def request(method, **query)
            @api.request(method, @place.api_path, query: @place.scope.merge(query))
          end
        end

        # The environments and backends that a page offers.
        class Choice
          # @return [String, nil] why some of them are not known
          attr_reader :problem

          # @param place [Place]
          # @param backends [Array<Hash>, nil] of the API; nil if they are not known
          # @param chosen [Hash, nil] the backend of the place, with its environments; nil if it is not known
          # @param problem [String, nil]
          def initialize(place, backends, chosen, problem)
            @place = place
            @backends = backends
            @chosen = chosen
            @problem = problem
          end

          # @return [String] the backend of the page
          def backend
            name = @place.backend || default || 'the default one'
            @chosen ? "#{name} (#{@chosen['type']})" : name
          end

          # @return [String] the name of the backend, for a form; empty for the default one
          def backend_name
            @place.backend || default.to_s
          end

          # @return [Array<String>, nil]
          def backends
            @backends && (@backends.map { |each| each['name'] } | [backend_name])
          end

          # @return [String] the environment that a form offers first
          def environment
            @place.environment || @chosen&.fetch('environments')&.first || 'production'
          end

          # @return [Array<String>, nil]
          def environments
            @chosen && (@chosen['environments'] | [environment])
          end

          private

          def default
            @backends&.find { |each| each['default'] }&.fetch('name')
          end
        end
      end
    end
  end
end
