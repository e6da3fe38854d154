# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # The list of a folder, or a part of it: the folders by name, then the keys by name.
      class KeyList
        PARAMETERS = %w[filter limit offset errors].freeze
        # Of keys or of numbers of rows.
        MOST = 1_000_000_000
        private_constant :MOST

        # @param query [Hash{String => String}]
        # @param errors [Boolean] whether the list is to have the errors of keys that cannot be read
        # @raise [Problem] a parameter is wrong
        def initialize(query, errors:)
          @filter = query['filter'].to_s.downcase
          @limit = number(query, 'limit', 1)
          @offset = number(query, 'offset', 0)
          @errors = errors
        end

        # @param names [Boolean] whether the list has keys without values, expired or not
        # @return [#call, nil] which documents a store has to read, for {Store#list}: those of one page of names, if the
        #   list does not fail for a key of another one; nil for all, because documents tell what has expired
        def choice(names)
          method(:chosen) if names && @limit && @errors
        end

        # @param found [Hash] as {Store#list}, with a body for each key; nil for one to leave out, an {Error} for one
        #   that cannot be read
        # @param place [String] the path of the folder in the store
        # @return [Hash{String => Object}]
        # @raise [MalformedError] a key cannot be read, and the list is not to have its errors
        def of(found, place)
          bodies = bodies(found)
          refuse(bodies, place) unless @errors
          folders, names = @chosen || shown(found[:folders], bodies.keys)
          errors, keys = partition(bodies, names)
          list = { 'keys' => keys, 'folders' => folders }
          list['errors'] = errors.transform_values(&:message) if @errors
          list['total'] = @total if @limit || @offset
          list
        end

        private

        def number(query, name, least)
          return if query[name].nil?

          Coercion.convert(least..MOST, query[name]) ||
            raise(Problem.new(400, "the parameter '#{name}' must be a whole number from #{least} on"))
        end

        # @return [Hash{String => Object}] a body or an {Error} for each key
        def bodies(found)
          found[:keys].compact.merge(found[:errors].transform_values { |why| MalformedError.new(why.to_s) })
        end

        # A key that was chosen may be deleted meanwhile.
        #
        # @return [Array(Hash{String => Error}, Hash{String => Hash})]
        def partition(bodies, names)
          found = names.select { |name| bodies.key?(name) }.to_h { |name| [name, bodies[name]] }
          found.partition { |_, body| body.is_a?(Error) }.map(&:to_h)
        end

        def chosen(found)
          @chosen = shown(found[:folders], bodies(found).keys)
          @chosen.last - found[:errors].keys
        end

        def refuse(bodies, place)
          name, why = bodies.select { |_, body| body.is_a?(Error) }.min_by(&:first)
          raise MalformedError.new("'#{name}' cannot be read: #{why.message}").about("#{place}/#{name}") if name
        end

        # @return [Array(Array<String>, Array<String>)] the folders and the keys on the page
        def shown(*lists)
          folders, keys = lists.map { |names| names.select { |name| match?(name) }.sort }
          @total = { 'keys' => keys.length, 'folders' => folders.length }
          from = @offset || 0
          most = @limit || MOST
          first = folders.drop(from).first(most)
          [first, keys.drop([from - folders.length, 0].max).first(most - first.length)]
        end

        def match?(name)
          @filter.empty? || name.downcase.include?(@filter)
        end
      end
    end
  end
end
