# frozen_string_literal: true

require 'simpkv/query/entities'

# Random queries. Most are well-formed; the others have wrong names, values, or shapes.
class RandomQueries
  TEXTS = ['web1', 'Debian', 'nginx', 'Class', 'File', 'os', 'kernel', 'production', 'success', '', "'", '"', '%', '?',
           ';--', "\u00fc", '12', '1e5', 'true', 'null', "\n"].freeze

  PATTERNS = ['.*', '^web', '$', 'n', '[a-z]+', '(a|b)?', '\\d', '(?i)DEB', "\u00fc", '(', '[', '\\'].freeze

  TIMES = ['2026-11-21', '2026-11-21T10:00:00Z', '2026', 5, 'x'].freeze

  # Paths by the field that they begin with.
  PATHS = { 'facts' => ['facts.os.family', 'facts.os', 'facts.list[0]', 'facts.list[5].deep[1]', 'facts."dotted.name"',
                        'facts.paths.0', 'facts.networking.interfaces.match("eth.*").mtu', 'facts.processors.count',
                        'facts.blank', 'facts.match("k.*")', 'facts.', 'facts."', 'facts.x[999999999]'],
            'trusted' => ['trusted.extensions.pp_role', 'trusted.certname', 'trusted.x y'],
            'parameters' => ['parameters.ensure', 'parameters.options.x[0]', 'parameters.names', 'parameters.'] }.freeze

  KEYS = [%w[os family], %w[kernel], ['list', 1], %w[paths 0], ['paths', 'x "y"'], %w[os]].freeze

  ODD = [nil, 1, [], {}, 'nope', ['fact'], %w[fact os x], %w[node nope], 2**64, 10**400, -0.0, true].freeze

  ORDER = %w[> < >= <=].freeze

  COUNTS = %w[event-counts aggregate-event-counts].freeze

  MASKS = ['YYYY-MM', 'FMDay', '999', 'FM9', '9.9EEEE', 'x'].freeze

  # One of so many items is wrong.
  ODDITY = 60

  # @param seed [Integer]
  def initialize(seed)
    @random = Random.new(seed)
    @entities = Simpkv::Query::Entities::ALL
  end

  # @return [Array(String, Object, Hash, Hash)] an entity or nil, a query, parameters of Paging.of, and options
  def next
    return [pick(COUNTS), condition(@entities['events'], 2), counts_paging, options] if one_in?(12)

    entity = pick(@entities.values)
    return [nil, mangled(from(entity, 3)), paging(entity), {}] if one_in?(4)

    [entity.name, mangled(one_in?(3) ? extract(entity, 3) : condition(entity, 3)), paging(entity), {}]
  end

  private

  def pick(list)
    list[@random.rand(list.length)]
  end

  def one_in?(number)
    @random.rand(number).zero?
  end

  # The item of the block, or a wrong one.
  def usually
    one_in?(ODDITY) ? pick(ODD) : yield
  end

  def times(least, most, &block)
    Array.new(least + @random.rand(most - least + 1), &block)
  end

  def condition(entity, depth)
    return comparison(entity) if depth.zero? || one_in?(2)

    case @random.rand(4)
    when 0 then [pick(%w[and or]), *times(1, 3) { condition(entity, depth - 1) }]
    when 1 then ['not', condition(entity, depth - 1)]
    when 2 then subquery(entity, depth)
    else
      field = field(entity)
      ['in', name(field), ['array', times(0, 3) { value(field) }]]
    end
  end

  def comparison(entity)
    case @random.rand(8)
    when 0 then ['null?', name(field(entity)), usually { one_in?(2) }]
    when 1 then ['=', 'node_state', usually { pick(%w[any active inactive]) }]
    when 2 then place(entity)
    else
      field = field(entity)
      operator = operator(field)
      [operator, name(field), usually { value(field, operator) }]
    end
  end

  # A condition on a value inside JSON.
  def place(entity)
    name = pick([*paths(entity), ['fact', pick(%w[os kernel load nope])], ['parameter', pick(%w[ensure port nope])]])
    operator = pick(['=', '~', *ORDER])
    [operator, name, usually { json(operator) }]
  end

  def paths(entity)
    PATHS.select { |field, _| entity[field] }.values.flatten
  end

  def field(entity)
    pick(entity.queried)
  end

  def name(field)
    usually { field.name }
  end

  def operator(field)
    case field.type
    when :string, :tags then pick(%w[= ~])
    when :integer, :timestamp then pick(['=', *ORDER])
    when :path, :leaf then pick(%w[= ~>])
    when :value, :element, :document then pick(['=', '~', *ORDER])
    else '='
    end
  end

  def value(field, operator = '=')
    case field.type
    when :string, :tags then text(operator)
    when :integer then @random.rand(20)
    when :boolean then one_in?(2)
    when :timestamp then pick(TIMES)
    when :path, :leaf then path(operator)
    else json(operator)
    end
  end

  def text(operator)
    pick(operator == '~' ? PATTERNS : TEXTS)
  end

  def path(operator)
    operator == '~>' ? times(1, 3) { pick(PATTERNS) } : pick(KEYS)
  end

  def json(operator)
    return pick(PATTERNS) if operator == '~'
    return pick([0, 1, 4.0, 1500, @random.rand, 2**62, -(2**63), 1e300]) if ORDER.include?(operator)

    pick([pick(TEXTS), @random.rand(5), true, false, nil, [pick(TEXTS), 1], { pick(TEXTS) => [1, nil] }])
  end

  def subquery(entity, depth)
    inner = related(entity)
    return ['subquery', usually { inner.name }, condition(inner, depth - 1)] if one_in?(2)

    fields = times(1, 2) { name(field(entity)) }
    columns = fields.map { name(pick(inner.answered)) }
    return ['in', fields, from(inner, depth - 1, columns)] if one_in?(2)

    ['in', fields, ['extract', columns, ["select_#{inner.name}", condition(inner, depth - 1)]]]
  end

  def related(entity)
    others = @entities.values.select { |inner| Simpkv::Query::Entities.relation(entity, inner) }
    pick(others.empty? ? @entities.values : others)
  end

  def from(entity, depth, columns = nil)
    query = columns || one_in?(2) ? extract(entity, depth, columns) : condition(entity, depth)
    clauses = [['limit', usually { 1 + @random.rand(5) }], ['offset', usually { @random.rand(3) }],
               ['order_by', [usually { [sorted(entity), pick(%w[asc desc])] }]]]
    ['from', entity.name, query, *clauses.select { one_in?(3) }]
  end

  def extract(entity, depth, columns = nil)
    plain = times(1, 3) { one_in?(4) ? pick([*paths(entity), pick(entity.answered).name]) : pick(entity.answered).name }
    aggregate = columns.nil? && one_in?(3)
    query = ['extract', columns || [*plain, *([call(entity)] if aggregate)]]
    query << condition(entity, depth - 1) if one_in?(2)
    query << ['group_by', *plain] if aggregate
    query
  end

  def call(entity)
    function = usually { pick(%w[count avg sum min max to_string]) }
    arguments = { 'count' => [], 'to_string' => [pick(entity.answered).name, pick(MASKS)] }
    ['function', function, *arguments.fetch(function) { [pick(entity.answered).name] }]
  end

  def sorted(entity)
    pick(entity.answered.reject { |field| %i[expanded detailed facts].include?(field.type) }).name
  end

  def paging(entity)
    return {} unless one_in?(4)

    { limit: usually { pick([nil, 1, '5']) }, include_total: pick([nil, true]),
      order_by: pick([nil, [{ 'field' => sorted(entity), 'order' => pick(%w[asc desc]) }]]) }
  end

  def options
    { 'summarize_by' => usually { pick(%w[certname resource containing_class]) },
      'count_by' => usually { pick(%w[certname resource]) },
      'counts_filter' => usually { [pick(['=', *ORDER]), pick(%w[failures noops]), @random.rand(3)] } }
  end

  def counts_paging
    { order_by: pick([nil, nil, [{ 'field' => pick(%w[failures skips x]) }]]) }
  end

  # Replaces an item anywhere in a query, once in a while.
  def mangled(query)
    return query unless one_in?(10) && query.is_a?(Array) && !query.empty?

    copy = query.dup
    index = @random.rand(copy.length)
    copy[index] = copy[index].is_a?(Array) && !one_in?(3) ? mangled(copy[index]) : pick(ODD)
    copy
  end
end
