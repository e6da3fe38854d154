# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # The list of a folder, or a part of it: the folders by name, then the keys by name.
      class KeyList
        PARAMETERS = %w[filter limit offset marker errors].freeze
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
          @marker = query['marker']
          raise Problem.new(400, "use either 'offset' or 'marker', not both") if @offset && @marker

          @errors = errors
        end

        # @return [#call, nil] which documents a store has to read, for {Store#list}: those of one page. nil for all
        def choice
          method(:chosen) if @limit
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
          list.merge(extent)
        end

        private

        def number(query, name, least)
          return if query[name].nil?

          Coercion.convert(least..MOST, query[name]) ||
            raise(Problem.new(400, "the parameter '#{name}' must be a whole number from #{least} on"))
        end

        # @return [Hash{String => Object}] a body or an {Error} for each key, or for each that was chosen
        def bodies(found)
          keys = @chosen ? @chosen.last.to_h { |name| [name, found[:keys][name]] } : found[:keys]
          keys.compact.merge(found[:errors].transform_values { |why| MalformedError.new(why.to_s) })
        end

        # A key that was chosen may be deleted meanwhile.
        #
        # @return [Array(Hash{String => Error}, Hash{String => Hash})]
        def partition(bodies, names)
          found = names.select { |name| bodies.key?(name) }.to_h { |name| [name, bodies[name]] }
          found.partition { |_, body| body.is_a?(Error) }.map(&:to_h)
        end

        # Makes no copy of a list that may have 100,000 names.
        def chosen(found)
          @chosen = shown(found[:folders], found[:keys].keys.concat(found[:errors].keys))
          @chosen.last - found[:errors].keys
        end

        def refuse(bodies, place)
          name, why = bodies.select { |_, body| body.is_a?(Error) }.min_by(&:first)
          raise MalformedError.new("'#{name}' cannot be read: #{why.message}").about("#{place}/#{name}") if name
        end

        # @return [Hash{String => Object}] the members that only a page has
        def extent
          @limit || @offset || @marker ? { 'total' => @total, 'next' => @next }.compact : {}
        end

        # @return [Array(Array<String>, Array<String>)] the folders and the keys on the page
        def shown(*lists)
          folders, keys = @filter.empty? ? lists : lists.map { |names| matching(names) }
          @total = { 'keys' => keys.length, 'folders' => folders.length }
          folders, keys = after_marker(folders, keys) if @marker
          pages(folders, keys, @offset || 0, @limit || MOST)
        end

        def pages(folders, keys, from, most)
          first = page(folders, from, most)
          last = page(keys, [from - folders.length, 0].max, most - first.length)
          @next = last.last || "#{first.last}/" if folders.length + keys.length - from > most
          [first, last]
        end

        # @return [Array(Array<String>, Array<String>)] the names that follow the marker, the last name of the page
        #   before, whether or not that name still exists. A slash at its end tells a folder from a key
        def after_marker(folders, keys)
          name = @marker.delete_suffix('/')
          return [folders.select { |folder| folder > name }, keys] unless name == @marker

          [[], keys.select { |key| key > name }]
        end

        def matching(names)
          names.select { |name| name.downcase.include?(@filter) }
        end

        # @return [Array<String>] some names, sorted. To find the first ones takes a fraction of the time of a sort
        def page(names, from, most)
          sorted = @limit ? names.min(from + most) : names.sort
          sorted.drop(from).first(most)
        end
      end
    end
  end
end
