# frozen_string_literal: true

require 'rack'
require 'simpkv/server'
require 'stringio'

# Requests to the service in this process, without a server: over TLS, without a client certificate.
class ConsoleVisits
  # A connection as the service sees it.
  Connection = Struct.new(:kind, :peer, :uid) do
    def peer_name
      peer
    end

    def arrived; end

    def retiring?
      false
    end
  end

  Answer = Struct.new(:status, :headers, :body) do
    # @return [String, nil] the cookie that a browser would keep
    def cookie
      headers['set-cookie'].to_s[/\A(__Host-simpkv=[^;]+)/, 1]
    end

    # @return [String, nil] the token of the form in the page
    def token
      body[/name="_token" value="(\h+)"/, 1]
    end
  end

  class NoMetrics
    def observe(*); end

    def error(*); end
  end
  private_constant :NoMetrics

  FORM = { 'HTTP_ORIGIN' => 'https://store.example.com' }.freeze
  PAGE = { 'HTTP_ACCEPT' => 'text/html' }.freeze

  # @return [String] all lines of the log
  attr_reader :log

  # @param options [Hash] of the site, with `server`
  # @param more [Hash{Symbol => Object}] `sign_in` and `tokens` of {Simpkv::Server::Gate}
  # @yieldreturn [Simpkv::Server::SignIn]
  def initialize(options, **more)
    @log = +''
    log = ->(text, id: nil, from: nil) { @log << "#{from} #{id} #{text}\n" }
    site = Simpkv::Server::Site.new(options, nil, log)
    server = Simpkv::Config::Sections.convert(options, 'server')
    more[:sign_in] = yield(site, server, log) if block_given?
    rights = Simpkv::Server::Rights.new(server['rights'])
    certificates = Simpkv::Server::Certificates.new(server)
    @gate = Simpkv::Server::Gate.new(api(site, rights, log), -> { rights }, certificates, **more)
    @app = Simpkv::Server::Observation.new(Simpkv::Server::Entrance.new(@gate) { |pages| pages }, NoMetrics.new, log)
  end

  # @return [Answer]
  def get(path, cookie: nil, kind: :ssl, peer: '192.0.2.1', **headers)
    request('GET', path, headers.merge('HTTP_COOKIE' => cookie).compact, Connection.new(kind, peer, Process.euid))
  end

  # @param body [Hash, String] the fields of a form, or JSON
  # @return [Answer]
  def post(path, body, cookie: nil, peer: '192.0.2.1', **headers)
    headers = FORM.merge('HTTP_COOKIE' => cookie).merge(headers).compact
    sent = body.is_a?(String) ? { input: body } : { params: body }
    request('POST', path, headers, Connection.new(:ssl, peer), **sent)
  end

  # @return [Answer] to the form of the page that signs in
  def sign_in(name, password, to: '/', peer: '192.0.2.1', **headers)
    path = "/session/sign-in?#{Rack::Utils.build_query('to' => to)}"
    token = get('/session/sign-in', **PAGE).token
    post(path, { '_token' => token, 'name' => name, 'password' => password }, peer: peer, **PAGE, **headers)
  end

  # @return [Proc] looks again who has sent a GET that lasts, such as a watch
  def lasting(path, cookie)
    env = env('GET', path, { 'HTTP_COOKIE' => cookie }, Connection.new(:ssl, '192.0.2.1'))
    @gate.admit(env)
    -> { Simpkv::Server::Gate.identify_again(env) }
  end

  private

  def api(site, rights, log)
    Simpkv::Server::Api.application(site: site, rights: -> { rights }, queries: nil, log: log, status: nil,
                                    work: Simpkv::Server::Work.new(nil), admit: ->(env) { @gate.admit(env) })
  end

  def env(method, path, headers, connection, **more)
    env = Rack::MockRequest.env_for("https://store.example.com#{path}", method: method, **more)
    env['HTTP_HOST'] = 'store.example.com'
    env[Simpkv::Server::Connection::KEY] = connection
    env.merge(headers)
  end

  def request(*arguments, **more)
    status, found, parts = @app.call(env(*arguments, **more))
    Answer.new(status, found, parts.to_enum.to_a.join)
  end
end
