# frozen_string_literal: true

require 'simpkv/query/entities'

# Random queries: most are well-formed, some have wrong names, values, or shapes.
class RandomQueries
  TEXTS = ['web1', 'Debian', 'nginx', 'Class', 'File', 'os', 'kernel', 'production', '', "'", '"', '%', '?', ';--', '$',
           '.*', '^web', '(', '[', '\\', "\u00fc", '2026-11-21', '2026-11-21T10:00:00Z', '12', '1e5', 'true', 'null',
           "\n"].freeze

  PATHS = ['facts.os.family', 'facts.os', 'facts.list[0]', 'facts.list[5].deep[1]', 'facts."dotted.name"',
           'facts.paths.0', 'facts.networking.interfaces.match("eth.*").mtu', 'facts.processors.count',
           'trusted.extensions.pp_role', 'parameters.ensure', 'parameters.options.x[0]', 'facts.', 'facts..x',
           'facts."', 'parameters.', 'x.y', 'facts.match("(").x', 'certname.x', 'facts.x[999999999]'].freeze

  MASKS = ['YYYY', '999', 'FM9', '9.9EEEE', 'x', 1].freeze

  OPERATORS = %w[= ~ ~> > < >= <=].freeze

  FUNCTIONS = %w[count avg sum min max to_string nope].freeze

  # @param seed [Integer]
  def initialize(seed)
    @random = Random.new(seed)
    @entities = Simpkv::Query::Entities::ALL.keys
    @names = Simpkv::Query::Entities::ALL.transform_values { |entity| entity.queried.map(&:name) }
  end

  # @return [Array(String, Object, Hash)] an entity or nil, a query, and parameters of Paging.of
  def next
    entity = pick(@entities)
    return [nil, mangled(from(entity, 3)), paging(entity)] if one_in?(4)

    [entity, mangled(one_in?(3) ? extract(entity, 3) : condition(entity, 3)), paging(entity)]
  end

  private

  def pick(list)
    list[@random.rand(list.length)]
  end

  def one_in?(number)
    @random.rand(number).zero?
  end

  def times(most, &block)
    Array.new(@random.rand(most + 1), &block)
  end

  def condition(entity, depth)
    return comparison(entity) unless depth.positive? && one_in?(2)

    case @random.rand(4)
    when 0 then [pick(%w[and or]), *times(3) { condition(entity, depth - 1) }]
    when 1 then ['not', condition(entity, depth - 1)]
    when 2 then ['in', field(entity), ['array', times(3) { value }]]
    else subquery(entity, depth)
    end
  end

  def comparison(entity)
    case @random.rand(7)
    when 0 then ['null?', field(entity), pick([true, false, nil, 'x'])]
    when 1 then ['=', pick(['node_state', %w[node active]]), pick(['any', 'active', 'inactive', true, 'x'])]
    else [pick(OPERATORS), field(entity), value]
    end
  end

  def subquery(entity, depth)
    inner = pick(@entities)
    return ['subquery', inner, condition(inner, depth - 1)] if one_in?(2)

    fields = times(2) { field(entity) }
    columns = fields.map { field(inner) }
    return ['in', fields, from(inner, depth - 1, columns)] if one_in?(2)

    ['in', fields, ['extract', columns, ["select_#{inner}", condition(inner, depth - 1)]]]
  end

  def from(entity, depth, columns = nil)
    query = columns || one_in?(2) ? extract(entity, depth, columns) : condition(entity, depth)
    clauses = [['limit', number], ['offset', number], ['order_by', [order(entity)]]]
    ['from', entity, query, *clauses.select { one_in?(3) }]
  end

  def extract(entity, depth, columns = nil)
    group = one_in?(3) ? times(2) { field(entity) } : []
    query = ['extract', columns || [*group, *times(3) { column(entity) }]]
    query << condition(entity, depth - 1) if one_in?(2)
    query << ['group_by', *group] unless group.empty?
    query
  end

  def column(entity)
    return field(entity) if one_in?(2)

    ['function', pick(FUNCTIONS), *times(1) { field(entity) }, *times(1) { pick(MASKS) }]
  end

  def field(entity)
    case @random.rand(8)
    when 0 then pick(PATHS)
    when 1 then [pick(%w[fact parameter node nope]), pick(TEXTS)]
    when 2 then pick([nil, 1, [], {}, 'nope', ['fact'], %w[fact os x]])
    else pick(@names.fetch(entity))
    end
  end

  def value
    case @random.rand(10)
    when 0 then @random.rand(100)
    when 1 then @random.rand * 100
    when 2 then pick([true, false, nil])
    when 3 then pick([2**62, -(2**63), 2**64, 1e300, -0.0, 10**400])
    when 4 then times(3) { pick([*TEXTS, 1, 0, nil]) }
    when 5 then { pick(TEXTS) => pick([1, 'x', [], nil]) }
    else pick(TEXTS)
    end
  end

  def number
    pick([1, 2, 5, 0, -1, '2', nil, 2**63, 1.5])
  end

  def order(entity)
    pick([field(entity), [field(entity), pick(%w[asc desc x])], [field(entity)]])
  end

  def paging(entity)
    return {} unless one_in?(4)

    { limit: pick([nil, 1, '5', 'x']), include_total: pick([nil, true]),
      order_by: pick([nil, [{ 'field' => pick(@names.fetch(entity)), 'order' => pick(%w[asc desc]) }], '[{}]']) }
  end

  # Replaces an item anywhere in a query, once in a while.
  def mangled(query)
    return query unless one_in?(8) && query.is_a?(Array) && !query.empty?

    copy = query.dup
    index = @random.rand(copy.length)
    other = pick([nil, 1, 'x', [], {}, ['x'], true])
    copy[index] = copy[index].is_a?(Array) && !one_in?(3) ? mangled(copy[index]) : other
    copy
  end
end
