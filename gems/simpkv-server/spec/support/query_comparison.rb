# frozen_string_literal: true

require 'json'
require 'simpkv/query/engine'
require 'simpkv/query/route'
require_relative 'puppetdb_client'
require_relative 'query_tables'

# Asks queries of a PuppetDB and of an index of simpkv, and compares the answers member by member.
#
# A line of a file of queries is a path, an AST, and parameters:
#
#   nodes ["~","certname","^web"] && order_by=[{"field":"certname"}] && limit=1
#   / ["from","nodes",["extract","certname"]]
#   (numbers in parameters) resources ["=",["parameter","limit"],1.0]
#
# The words in parentheses name a difference that docs/from-puppetdb.md accepts.
class QueryComparison
  # A line of a file.
  Question = Struct.new(:text, :difference, :path, :parameters)

  # What simpkv stores, and the open source PuppetDB does not.
  STORED = %w[corrective_change latest_report_corrective_change].freeze

  # Members whose list is in no order.
  UNORDERED = %w[facts resources edges resource_events].freeze

  OPTIONS = %w[summarize_by count_by counts_filter distinct_resources distinct_start_time distinct_end_time].freeze

  # An answer: the rows, or one row, or nil for an error, and the number of rows of all pages.
  Answer = Struct.new(:rows, :total, :error)

  # @param file [String]
  # @return [Array<Question>]
  def self.questions(file)
    lines = File.readlines(file, chomp: true).reject { |line| line.empty? || line.start_with?('#') }
    lines.map do |line|
      difference, path, rest = line.match(/\A(?:\(([^)]+)\) )?(\S+)(?: (.*))?\z/).captures
      parameters = rest.to_s.split(' && ').to_h { |part| part.start_with?('[') ? ['query', part] : part.split('=', 2) }
      Question.new(line, difference, path == '/' ? '' : path, parameters)
    end
  end

  # @param client [PuppetDB::Client]
  def initialize(client)
    @client = client
    @engine = QueryTables.new(identities).fill.engine
  end

  # @param question [Question]
  # @return [String, nil] how the answers differ; nil if they do not
  def report(question)
    theirs = ask_puppetdb(question)
    ours = ask_simpkv(question)
    return if same?(theirs, ours, question)

    "#{question.text}\n  PuppetDB: #{short(theirs)}\n  simpkv: #{short(ours)}"
  end

  private

  # @return [Hash{Array => Hash}] see QueryTables
  def identities
    keys = { 'nodes' => %w[certname], 'factsets' => %w[certname], 'catalogs' => %w[certname],
             'resources' => %w[certname type title], 'reports' => %w[certname start_time] }
    keys.flat_map do |entity, names|
      @client.query(entity, %w[= node_state any]).map { |row| [[entity, *row.values_at(*names)], row] }
    end.to_h
  end

  def ask_puppetdb(question)
    response = @client.get("/pdb/query/v4/#{question.path}".chomp('/'), question.parameters)
    return Answer.new(nil, nil, response.body) unless response.is_a?(Net::HTTPOK)

    Answer.new(JSON.parse(response.body), response['x-records']&.to_i)
  end

  def ask_simpkv(question)
    route = route_of(question)
    rows = []
    total = ask(route, question) { |row| rows << JSON.parse(row) }
    return Answer.new(nil, nil, 'missing') if missing?(route, rows)

    Answer.new(route&.one ? rows.first : rows, total)
  rescue Simpkv::Query::InvalidError => e
    Answer.new(nil, nil, e.message)
  end

  def route_of(question)
    return if question.path.empty?

    Simpkv::Query::Route.of(question.path.split('/').map { |segment| URI.decode_www_form_component(segment) }) ||
      raise(Simpkv::Query::InvalidError, 'no such path')
  end

  def ask(route, question, &block)
    query = question.parameters['query'] && JSON.parse(question.parameters['query'])
    paging = question.parameters.slice('limit', 'offset', 'order_by', 'include_total').transform_keys(&:to_sym)
    @engine.query(route&.entity, route ? route.narrow(query) : query, Simpkv::Query::Paging.of(**paging),
                  question.parameters.slice(*OPTIONS), &block)
  end

  # The service answers with an error if the row of a path, or the one above it, is missing.
  def missing?(route, rows)
    return false if route.nil? || !rows.empty?
    return true if route.one

    parent = route.parent
    parent && @engine.query(parent.entity, parent.ast) { return false }
    !parent.nil?
  end

  def same?(theirs, ours, question)
    return theirs.rows.nil? == ours.rows.nil? if theirs.rows.nil? || ours.rows.nil?

    ordered = ordered?(question)
    compared(theirs.rows, ordered) == compared(ours.rows, ordered) && theirs.total == ours.total
  end

  def ordered?(question)
    query = JSON.parse(question.parameters.fetch('query', 'null'))
    clauses = query.is_a?(Array) ? query.map { |item| Array(item).first } : []
    question.parameters.key?('order_by') || clauses.include?('order_by')
  end

  def compared(rows, ordered)
    return plain(rows) unless rows.is_a?(Array)

    rows = rows.map { |row| plain(row) }
    ordered ? rows : rows.sort_by { |row| JSON.generate(row) }
  end

  # Averages have more digits in PostgreSQL.
  def plain(value)
    case value
    when Hash then members(value)
    when Array then value.map { |item| plain(item) }
    when Float then value.round(9)
    else value
    end
  end

  def members(hash)
    hash.reject { |name, _| STORED.include?(name) }.sort.to_h { |name, value| [name, member(name, plain(value))] }
  end

  def member(name, value)
    return value.sort if name == 'tags' && value

    data = value['data'] if UNORDERED.include?(name) && value.is_a?(Hash)
    data ? value.merge('data' => data.sort_by { |item| JSON.generate(item) }) : value
  end

  def short(answer)
    (answer.error ? "error: #{answer.error}" : JSON.generate([answer.total, answer.rows].compact))[0, 1000]
  end
end
