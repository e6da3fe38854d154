# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # A list of inspection rules as a client wants it: chosen, sorted, and cut into pages.
      class RuleList
        PARAMETERS = %w[detail scope phase fields limit marker sort_key sort_dir].freeze
        FIELDS = [*Inspection::Rules::Definition::DEFAULTS.keys, 'links'].freeze
        SORTABLE = FIELDS - %w[conditions actions links]
        LIMIT_MAX = 1000
        private_constant :FIELDS, :SORTABLE, :LIMIT_MAX

        # @param query [Hash{String => String}] of {PARAMETERS}
        # @param detail [Boolean] whether to show all fields
        # @raise [Problem] a value is wrong
        def initialize(query, detail)
          @fields = query['fields'] && [*query['fields'].split(',', -1), *('' if query['fields'].empty?)]
          @key = query['sort_key']
          @descending = choice(query, 'sort_dir', %w[asc desc]) == 'desc'
          @limit = limit(query['limit'])
          @marker = query['marker']
          @phase = choice(query, 'phase', Inspection::Rules::Definition::PHASES)
          @scope = query['scope']
          @detail = detail
          check_fields
        end

        # @param rules [Inspection::Rules]
        # @param errors [Hash{String => String}, nil] receives why a rule cannot be used, by the path of its document,
        #   or by the file and the name of a built-in one
        # @return [Array(Array<Hash>, String)] the rules of the page, and the UUID of the last one if more follow
        # @raise [MalformedError] a rule cannot be read, and there are no `errors`
        def page(rules, errors = nil)
          unusable = errors && ->(what, why) { errors[what] = why }
          all = sorted(rules.list(detail: true, scope: @scope, phase: @phase, &unusable))
          rest = @marker ? after_marker(all) : all
          page = rest.first(@limit)
          [page, rest.length > page.length ? page.last['uuid'] : nil]
        end

        # @param rule [Hash] all fields, with links
        # @return [Hash] those that the client wants
        def shown(rule)
          return rule.slice(*@fields) if @fields

          @detail ? rule : rule.reject { |name, _| Inspection::Rules::Definition::HIDDEN.include?(name) }
        end

        private

        def choice(query, name, choices)
          value = query[name]
          return value if value.nil? || choices.include?(value)

          raise Problem.new(400, "the parameter '#{name}' must be #{choices.join(' or ')}")
        end

        def limit(text)
          return LIMIT_MAX if text.nil?

          number = text.match?(/\A\d{1,9}\z/) ? text.to_i : -1
          raise Problem.new(400, "the parameter 'limit' must be a whole number, 0 or more") if number.negative?

          number.zero? ? LIMIT_MAX : [number, LIMIT_MAX].min
        end

        def check_fields
          raise Problem.new(400, "'fields' and 'detail' exclude each other") if @fields && @detail

          unknown = (@fields.to_a - FIELDS).first
          raise Problem.new(400, "unknown field '#{unknown}': there are #{FIELDS.join(', ')}") if unknown
          return if @key.nil? || SORTABLE.include?(@key)

          raise Problem.new(400, "the parameter 'sort_key' must be one of #{SORTABLE.join(', ')}")
        end

        # Without a key, in order of precedence.
        def sorted(rules)
          return @descending ? rules.reverse : rules unless @key

          rules = rules.sort_by { |rule| [order(rule[@key]), rule['uuid']] }
          @descending ? rules.reverse : rules
        end

        # Rules without a value come first.
        def order(value)
          case value
          when nil, false then [0, 0, '']
          when Integer then [1, value, '']
          else [1, 0, value.to_s]
          end
        end

        def after_marker(rules)
          index = rules.index { |rule| rule['uuid'] == @marker.downcase }
          raise Problem.new(400, "the parameter 'marker' must be the uuid of a rule in this list") unless index

          rules.drop(index + 1)
        end
      end
    end
  end
end
