# frozen_string_literal: true

require 'json'
require 'json_schemer'
require 'openssl'
require 'socket'
require 'yaml'

# A client of `simpkv serve`. It sends paths as they are, opens a connection for each request, and checks each response
# against the description of the API.
class ServiceClient
  Response = Struct.new(:status, :headers, :body) do
    # @return [Object] the body, JSON
    def data
      JSON.parse(body)
    end

    # @return [String] what is wrong
    def detail
      data.fetch('detail')
    end
  end

  # A response differs from the description.
  class Undescribed < StandardError; end

  # The service has ended the connection without an answer.
  class Closed < StandardError; end

  SECONDS = 60
  DESCRIPTION = YAML.safe_load(
    File.read(File.expand_path('../../lib/simpkv/server/openapi.yaml', __dir__))
  )
  SCHEMAS = JSONSchemer.openapi(DESCRIPTION)
  private_constant :SECONDS

  # @param url [String] of the service, as it prints it
  # @param tls [Hash{Symbol => String}] for ssl: the files `ca`, `cert` and `key`; the last two may be missing
  def initialize(url, tls = {})
    @scheme, @place = url.split('://', 2)
    @tls = tls
  end

  # @param method [String]
  # @param target [String] path and query
  # @param data [Object, nil] sent as JSON; a String as it is
  # @param headers [Hash{String => String}]
  # @return [Response]
  def request(method, target, data = nil, headers = {})
    body = data.is_a?(String) || data.nil? ? data.to_s : JSON.generate(data)
    lines = { 'Host' => host, 'Connection' => 'close', 'Content-Length' => body.bytesize }.merge(headers)
    response = exchange("#{method} #{target} HTTP/1.1\r\n#{lines.map do |line|
      line.join(': ')
    end.join("\r\n")}\r\n\r\n#{body}")
    raise Closed if response.nil?

    check(method, target, response)
    response
  end

  %w[get delete].each do |name|
    define_method(name) { |target, headers = {}| request(name.upcase, target, nil, headers) }
  end
  %w[post put patch].each do |name|
    define_method(name) { |target, data, headers = {}| request(name.upcase, target, data, headers) }
  end

  # Sends bytes, and reads until the service closes the connection.
  #
  # @param bytes [String]
  # @param last [Boolean] whether to tell the service that no more bytes follow
  # @return [Response, nil] nil if it closes without an answer
  def exchange(bytes, last: false)
    connect do |socket|
      begin
        socket.write(bytes)
        socket.close_write if last
      rescue Errno::EPIPE, Errno::ECONNRESET, Errno::ENOTCONN
        nil # The service has answered before it has read all.
      end
      parse(read(socket))
    end
  end

  # @return [IO] a new connection
  def open
    return UNIXSocket.new(@place) if @scheme == 'unix'

    address, _, port = @place.rpartition(':')
    socket = TCPSocket.new(address.delete('[]'), Integer(port))
    @scheme == 'tcp' ? socket : secured(socket)
  end

  # @yieldparam socket [IO] a new connection
  def connect
    socket = open
    yield socket
  ensure
    socket&.close
  end

  private

  def host
    @scheme == 'unix' ? 'localhost' : @place
  end

  def secured(socket)
    context = OpenSSL::SSL::SSLContext.new
    # With Puppet, a context shares the certificates of the whole process; a `ca_file` would be added to them.
    context.cert_store = OpenSSL::X509::Store.new.add_file(@tls.fetch(:ca))
    context.verify_mode = OpenSSL::SSL::VERIFY_PEER
    if @tls[:cert]
      context.cert = OpenSSL::X509::Certificate.new(File.read(@tls[:cert]))
      context.key = OpenSSL::PKey.read(File.read(@tls.fetch(:key)))
    end
    OpenSSL::SSL::SSLSocket.new(socket, context).tap { |tls| tls.sync_close = true }.connect
  end

  def read(socket)
    bytes = +''
    until socket.to_io.closed?
      # TLS may have decrypted bytes that the socket below does not show any more.
      pending = socket.respond_to?(:pending) && socket.pending.positive?
      raise 'the service does not answer' unless pending || socket.to_io.wait_readable(SECONDS)

      bytes << socket.readpartial(65_536)
    end
  rescue EOFError, Errno::ECONNRESET
    bytes
  end

  def parse(bytes)
    return if bytes.empty?

    head, body = bytes.split("\r\n\r\n", 2)
    status, *lines = head.split("\r\n")
    Response.new(Integer(status.split[1]), lines.to_h { |line| line.downcase.split(': ', 2) }, body.to_s)
  end

  # @raise [Undescribed]
  def check(method, target, response)
    return if method == 'HEAD'

    template, item = described(target.split('?').first)
    answer = response_of(item, method, response.status)
    place = place_of(target, template, method, answer)
    faults = response.body.empty? ? faults_of_empty(response, answer) : faults(place, response)
    raise Undescribed, "#{method} #{target}: #{response.status}: #{faults.first}" if faults.any?
  end

  def faults(place, response)
    type, = response.headers['content-type'].to_s.split(';')
    return ["the type #{type} is not described"] unless DESCRIPTION.dig(*place, 'content')&.key?(type)
    return [] unless type.end_with?('json')

    SCHEMAS.ref(pointer(*place, 'content', type, 'schema')).validate(response.data).map { |fault| fault['error'] }
  end

  # @return [Array<String>] where the description has the response; for a request that it does not have, that of a GET
  def place_of(target, template, method, answer)
    place = ['paths', template, method.downcase, 'responses', answer]
    place[2] = 'get' unless DESCRIPTION.dig(*place)
    return ['components', 'responses', error_of(target)] unless DESCRIPTION.dig(*place)

    reference = DESCRIPTION.dig(*place)['$ref']
    reference ? reference.delete_prefix('#/').split('/') : place
  end

  def error_of(target)
    return 'Error' if target.start_with?('/pdb/cmd/')

    target.start_with?('/pdb/') ? 'Text' : 'Problem'
  end

  def faults_of_empty(response, answer)
    [201, 204, 304].include?(response.status) && answer != 'default' ? [] : ['a response without a body']
  end

  # @return [Array(String, Hash)] the path of the description that fits, and what it has
  def described(path)
    path = path.chomp('/') if path.length > 1
    exact = DESCRIPTION['paths'][path]
    return [path, exact] if exact

    DESCRIPTION['paths'].find do |template, _|
      words = template.split(/(\{\w+\})/).map { |word| word.start_with?('{') ? part(word) : Regexp.escape(word) }
      path.match?(/\A#{words.join}\z/)
    end
  end

  def part(word)
    word == '{path}' ? '.+' : '[^/]+'
  end

  def response_of(item, method, status)
    operation = item && item[method.downcase]
    operation && operation['responses'].key?(status.to_s) ? status.to_s : 'default'
  end

  def pointer(*parts)
    words = parts.map { |part| part.gsub('~', '~0').gsub('/', '~1').gsub('{', '%7B').gsub('}', '%7D').gsub('+', '%2B') }
    "#/#{words.join('/')}"
  end
end
