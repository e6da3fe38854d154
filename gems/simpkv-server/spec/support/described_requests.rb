# frozen_string_literal: true

require 'erb'
require 'json'
require 'yaml'

# Random requests to the API, made from its description: valid ones, and ones that are wrong in a place.
class DescribedRequests
  FILE = File.expand_path('../../lib/simpkv/server/openapi.yaml', __dir__)
  UUID = '6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90'
  # Few names, so that requests meet what others have made.
  WORDS = ['a', 'app1', 'app1/token', 'web1', 'production', 'default', 'é', 'x' * 300, '..', 'a//b', '%2e', "a\u0001b",
           'puppetdb-status', 'nodes', 'facts/kernel', 'reports', 'version', '', ' ', '*', 'a b', '__ptype'].freeze
  ODD = [nil, true, false, 0, -1, 1.5, 2**70, 1e308, '', "\u0000", 'é' * 100, 'x' * 5000, [], {}, [[[[]]]], [nil],
         { '' => 1 }, { '__ptype' => 'Sensitive', '__pvalue' => 1 }, { '__ptype' => 'Binary' }, '2026-13-45',
         '{"a":', '\\', '-1d', '99999y'].freeze
  # No request waits for long, and a watch would not end.
  KEPT = { 'wait' => %w[1s 0 x 601s], 'watch' => %w[yes false], 'secondsToWaitForCompletion' => %w[0 x],
           'query' => ['nodes{}', 'facts[name]{}', '["=","certname","web1"]', 'nodes{', '[]',
                       '["from","nodes"]'] }.freeze
  private_constant :FILE, :UUID, :WORDS, :ODD, :KEPT

  # @param random [Random]
  def initialize(random)
    @random = random
    @description = YAML.safe_load(File.read(FILE), aliases: true)
    @operations = @description['paths'].flat_map do |path, item|
      item.except('parameters').map { |method, each| [path, method, [*item['parameters'], *each['parameters']], each] }
    end
  end

  # @return [Array] the method, the target, the body or nil, and the headers
  def next
    path, method, parameters, operation = pick(@operations)
    by_place = parameters.map { |each| resolved(each) }.group_by { |each| each['in'] }
    target = path.gsub(/\{\w+\}/) { ERB::Util.url_encode(odd? ? pick(WORDS) : path_value) }
    type, content = operation.dig('requestBody', 'content')&.first
    headers = headers(by_place['header'].to_a, type)
    [method.upcase, target + query(by_place['query'].to_a), type && body(content), headers]
  end

  private

  def pick(list)
    list[@random.rand(list.length)]
  end

  # @return [Boolean] true once in so many times
  def chance(number)
    @random.rand(number).zero?
  end

  def odd?
    chance(8)
  end

  def path_value
    pick(['a', 'app1', 'app1/token', 'web1', 'default', 'nodes', 'puppetdb-status', UUID])
  end

  def headers(parameters, type)
    chosen = parameters.select { chance(3) }.to_h { |each| [each['name'], pick(['*', '"x"', 'x', '""'])] }
    type = 'text/plain' if type && chance(20)
    { **chosen, 'Content-Type' => type }.compact
  end

  # @return [String] with the question mark; empty without parameters
  def query(parameters)
    chosen = parameters.select { |each| each['required'] ? !odd? : chance(4) }
    pairs = chosen.map { |each| [each['name'], query_value(each)] }
    pairs += [%w[unknown 1], *pairs.first(1)] if chance(30)
    "?#{pairs.map { |pair| pair.map { |text| ERB::Util.url_encode(text) }.join('=') }.join('&')}".delete_suffix('?')
  end

  def query_value(parameter)
    return pick(KEPT[parameter['name']]) if KEPT.key?(parameter['name'])

    value = odd? ? pick(WORDS) : value(parameter['schema'])
    value.is_a?(String) ? value : JSON.generate(value)
  end

  def body(content)
    return pick(['', '{', '[]', 'null', "\xff\xfe", '{"a":1,"a":2}', '[' * 200]) if chance(15)

    JSON.generate(value(content['schema'] || {}))
  end

  def resolved(node)
    return node unless node.key?('$ref')

    resolved(@description.dig(*node['$ref'].delete_prefix('#/').split('/')))
  end

  # @return [Object] a value that the schema allows, perhaps with something odd in it
  def value(schema, depth = 0)
    return pick(ODD) if chance(25) || depth > 6

    schema = resolved(schema)
    return schema['const'] if schema.key?('const')
    return pick(schema['enum']) if schema.key?('enum')

    choices = schema['anyOf'] || schema['oneOf']
    choices ? value(pick(choices), depth) : typed(schema, depth)
  end

  def typed(schema, depth)
    type = pick(Array(schema['type'] || %w[string integer object array boolean null]))
    return object(schema, depth) if type == 'object'
    return Array.new(@random.rand(3)) { value(schema['items'] || {}, depth + 1) } if type == 'array'

    { 'string' => text(schema), 'integer' => number(schema), 'number' => @random.rand * 100,
      'boolean' => chance(2) }[type]
  end

  def number(schema)
    least = schema.fetch('minimum', 0)
    @random.rand(least..[schema.fetch('maximum', least + 10), least + 10].min)
  end

  def text(schema)
    case schema['format']
    when 'uuid' then UUID
    when 'date-time' then pick(['2026-11-29T12:00:00Z', '2126-01-01T00:00:00.123456Z'])
    else pick(WORDS)
    end
  end

  def object(schema, depth)
    required = schema['required'].to_a
    members = schema.fetch('properties', {}).select { |name, _| required.include?(name) || chance(2) }
    made = members.to_h { |name, each| [name, value(each, depth + 1)] }
    schema['additionalProperties'] && chance(2) ? made.merge(pick(WORDS) => value({}, depth + 1)) : made
  end
end
