# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'uri'
require_relative '../../../../examples/console/sample_access'
require_relative '../../../../examples/console/sample_writers'
require_relative '../../../simpkv-access/spec/support/access_directory'
require_relative 'browser'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/replica'
require_relative '../../../../spec/support/scratch'
require_relative 'service'
require_relative '../../../../spec/support/slapd'

# The service over the store of a SampleEstate, for specs that look at its pages.
class SampleConsole
  include Eventually

  # @return [Array<String>] the paths of all pages
  def self.paths
    File.readlines(File.expand_path('../../../../examples/console/pages.txt', __dir__), chomp: true).grep_v(/\A#/)
  end

  # @param options [Hash] of {Slapd}
  # @return [AccessDirectory] started, for {#start} and {#start_over}
  def self.directory(**options)
    AccessDirectory.new(Slapd, 'plain', tls: true, more: Replica::SUPPLIER, **options).tap(&:start)
  end

  # @return [Service]
  attr_reader :service

  # @param count [Integer] of nodes
  # @param reports [Integer] of each node
  def initialize(count, reports)
    @count = count
    @folder = Scratch.make('console')
    @site = SampleEstate.site(@folder)
    SampleEstate.make(@site, count, reports: reports)
  end

  # @return [Simpkv::Store] with which an example changes the data before the service starts
  def store
    @store ||= Simpkv::Store.open('file', @site.dig('backends', 'default').slice('root_path'))
  end

  # Starts the service, which may change everything, and waits for the index of queries.
  #
  # @param access [AccessDirectory, nil] of {directory}, whose users and roles the site declares, as another backend
  # @param more [Hash{String => Hash}] what it declares beyond {SampleAccess}
  # @return [SampleConsole] self
  def start(access = nil, more = {})
    return serve(@site) unless access

    backends = @site['backends'].merge('directory' => backend(access))
    section = access.section.merge('backend' => 'directory')
    serve_declared(@site.merge('backends' => backends, 'access' => section), more)
  end

  # Starts the service over a directory with the same data, and with declared users and roles.
  #
  # @param directory [AccessDirectory] of {directory}
  # @return [SampleConsole] self
  def start_over(directory)
    copy(directory.root)
    index = File.join(@folder, 'index_of_directory')
    serve_declared(@site.merge('backends' => { 'default' => backend(directory) }, 'access' => directory.section,
                               'server' => { 'index' => index }))
  end

  # Waits until the overview knows the state of all parts of the site.
  def wait_for_status
    eventually(within: 60, errors: RuntimeError) do
      @service.client.get('/v1/status').data.values.none? { |part| part.is_a?(Hash) && part['pending'] }
    end
  end

  # @return [Browser]
  def browser
    @browser ||= Browser.new(address)
  end

  # @return [String] such as http://127.0.0.1:8080
  def address
    @service.addresses.find { |place| place.start_with?('tcp:') }.sub('tcp:', 'http:')
  end

  # Stops the service and the browser. The data stay.
  def stop
    @browser&.quit
    @service&.stop
    @browser = @service = nil
  end

  def remove
    stop
    Scratch.remove(@folder)
  end

  private

  # @return [Hash{String => Object}] a backend in a directory: with TLS, its only server under two addresses, as if they
  #   were two servers
  def backend(directory)
    server = directory.server
    { 'type' => 'ldap' }.merge(directory.settings, 'ldap_uri' => [server.tls_uri, server.tcp_uri],
                                                   'write_uri' => server.tls_uri,
                                                   'tls_cacert' => server.certificates.cacert)
  end

  def serve_declared(site, more = {})
    SampleAccess.apply(site, @folder, more)
    serve(site)
  end

  # Operations on all backends are audited.
  #
  # @return [SampleConsole] self
  def serve(site)
    audit = { 'to' => File.join(@folder, 'audit.log'), 'reads' => true }
    audited = site.merge('backends' => site['backends'].transform_values { |each| each.merge('audit' => audit) })
    FileUtils.rm_f(audit['to'])
    SampleWriters.log(audited)
    @service = Service.new(audited, '--bind', 'tcp://127.0.0.1:0', '--local-write').tap(&:start)
    query = URI.encode_www_form('query' => 'facts[count()] { name = "role" }')
    eventually(within: 120, errors: RuntimeError) do
      answer = @service.client.get("/pdb/query/v4?#{query}")
      answer.status == 200 && answer.data == [{ 'count' => @count }]
    end
    self
  end

  def copy(directory)
    documents = %w[environments globals].flat_map do |folder|
      store.tree(folder)[:keys].map { |key, document| ["#{folder}/#{key}", document] }
    end
    directory.put_many(documents.to_h).each_value { |result| raise result if result.is_a?(Exception) }
  end
end
