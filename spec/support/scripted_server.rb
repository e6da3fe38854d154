# frozen_string_literal: true

require 'openssl'
require 'socket'
require 'tmpdir'

# A directory server that answers the messages of each connection with given bytes, whatever they ask, and then keeps
# the connection open. It runs in threads of this process.
class ScriptedServer
  # The success of StartTLS, the first message of a connection. The handshake follows it.
  STARTTLS = ['300c02010178070a010004000400'].pack('H*').freeze

  # Bytes that the server sends again and again, until the client leaves.
  Endless = Struct.new(:bytes)

  class << self
    # @return [String] an element of BER, with up to 127 bytes of content
    def element(tag, *contents)
      content = contents.map(&:b).join
      raise ArgumentError, 'the content is too long' if content.bytesize > 127

      [tag, content.bytesize].pack('CC') + content
    end

    # @param operation [String] an element
    # @return [String] a message
    def message(id, operation)
      element(0x30, element(0x02, id.chr), operation)
    end

    # @return [String] the successful result of an operation
    def result(id, tag)
      message(id, element(tag, element(0x0a, "\0"), element(0x04), element(0x04)))
    end

    # @return [String] an entry with one attribute, or none
    def entry(id, name, *attribute)
      type, value = attribute.map { |text| element(0x04, text) }
      attributes = type ? element(0x30, type, element(0x31, value)) : ''
      message(id, element(0x64, element(0x04, name), element(0x30, attributes)))
    end
  end

  # @return [String] the URI of the server
  attr_reader :uri

  # @param scheme [String] ldap, ldaps or ldapi
  # @param answers [Array<String, Endless>] the bytes for each message
  # @param certificate [Array(String, String), nil] the files of the server's certificate and key, for TLS
  def initialize(scheme, answers, certificate: nil)
    @scheme = scheme
    @answers = answers
    @context = certificate && context_of(*certificate)
    @folder = Dir.mktmpdir('simpkv-script')
    @listener = listen
    Thread.new { serve }
  end

  def stop
    @listener.close
    FileUtils.rm_rf(@folder)
  end

  private

  def context_of(certificate, key)
    OpenSSL::SSL::SSLContext.new.tap do |context|
      context.cert = OpenSSL::X509::Certificate.new(File.read(certificate))
      context.key = OpenSSL::PKey.read(File.read(key))
    end
  end

  def listen
    if @scheme == 'ldapi'
      path = File.join(@folder, 'socket')
      @uri = "ldapi://#{path.gsub('/', '%2F')}"
      UNIXServer.new(path)
    else
      TCPServer.new('127.0.0.1', 0).tap { |server| @uri = "#{@scheme}://127.0.0.1:#{server.addr[1]}" }
    end
  end

  def serve
    loop { answer(@listener.accept) }
  rescue IOError, SystemCallError
    # The server was stopped.
  end

  def answer(client)
    client = shake_hands(client) if @scheme == 'ldaps'
    @answers.each do |bytes|
      client.readpartial(4096)
      loop { client.write(bytes.bytes * 1000) } if bytes.is_a?(Endless)
      client.write(bytes)
      client = shake_hands(client) if bytes == STARTTLS
    end
    client.read
  rescue IOError, SystemCallError, OpenSSL::SSL::SSLError
    # The client has left.
  ensure
    client.close
  end

  def shake_hands(client)
    OpenSSL::SSL::SSLSocket.new(client, @context).tap do |socket|
      socket.sync_close = true
      socket.accept
    end
  end
end
