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
        # @raise [Problem] a parameter is wrong
        def initialize(query)
          @filter = query['filter'].to_s.downcase
          @limit = number(query, 'limit', 1)
          @offset = number(query, 'offset', 0)
          @errors = query['errors']
          return if [nil, 'return'].include?(@errors)

          raise Problem.new(400, "the parameter 'errors' must be return")
        end

        # @param found [Hash] as {Store#list}, with a body for each key; nil for one to leave out, an {Error} for one
        #   that cannot be read
        # @return [Hash{String => Object}]
        # @raise [MalformedError] a key cannot be read, and the list is not to have its errors
        def of(found)
          keys = rows(found)
          folders = found[:folders].select { |name| match?(name) }.sort
          shown = page(folders.map { |name| [name] } + keys)
          list = { 'keys' => bodies(shown), 'folders' => shown.select(&:one?).flatten }
          list['errors'] = errors(shown) if @errors
          list['total'] = { 'keys' => keys.length, 'folders' => folders.length } if @limit || @offset
          list
        end

        private

        def number(query, name, least)
          return if query[name].nil?

          Coercion.convert(least..MOST, query[name]) ||
            raise(Problem.new(400, "the parameter '#{name}' must be a whole number from #{least} on"))
        end

        # @return [Array<Array(String, Object)>] names with bodies or errors
        def rows(found)
          all = found[:keys].merge(found[:errors].transform_values { |why| MalformedError.new(why.to_s) }).compact
          refuse(all) unless @errors
          all.select { |name, _| match?(name) }.sort_by(&:first)
        end

        def refuse(all)
          name, why = all.select { |_, body| body.is_a?(Error) }.min_by(&:first)
          raise MalformedError, "'#{name}' cannot be read: #{why.message}" if name
        end

        def match?(name)
          @filter.empty? || name.downcase.include?(@filter)
        end

        def page(rows)
          rows = rows.drop(@offset) if @offset
          @limit ? rows.first(@limit) : rows
        end

        def bodies(rows)
          rows.reject { |row| row.one? || row.last.is_a?(Error) }.to_h
        end

        def errors(rows)
          rows.select { |row| row.last.is_a?(Error) }.to_h { |name, error| [name, error.message] }
        end
      end
    end
  end
end
