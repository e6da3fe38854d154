# frozen_string_literal: true

require 'openssl'
require 'socket'
require 'timeout'

# A bare LDAP client, which sends any control and any extended operation, and returns the responses byte by byte.
class BareLdap
  # The tags of responses after which no other one follows.
  FINAL = [0x61, 0x65, 0x67, 0x69, 0x6b, 0x6d, 0x6f, 0x78].freeze
  SECONDS = 30

  # A response: its bytes without the number of the message, and its result code if it is the last one.
  Response = Struct.new(:bytes, :tag, :code)

  class << self
    # Encodes what requests consist of. `text` may have any bytes.

    def sequence(*parts)
      encoded(0x30, parts.join)
    end

    def text(value, tag = 0x04)
      encoded(tag, value.b)
    end

    def integer(value, tag = 0x02)
      encoded(tag, OpenSSL::ASN1::Integer(value).to_der.b[2..])
    end

    def boolean(value)
      encoded(0x01, [value ? 0xff : 0].pack('C'))
    end

    def encoded(tag, content)
      length = content.bytesize
      size = length < 0x80 ? [length].pack('C') : [0x82, length].pack('Cn')
      [tag].pack('C') + size + content.b
    end

    # A filter.

    def present(name)
      text(name, 0x87)
    end

    def equal(name, value)
      encoded(0xa3, text(name) + text(value))
    end

    def contains(name, value)
      encoded(0xa4, text(name) + sequence(text(value, 0x81)))
    end

    # A control, or the list of them.

    def control(oid, value = nil, critical: true)
      sequence(text(oid), boolean(critical), *(text(value) if value))
    end

    # Operations.

    def search(base, scope, filter, *attributes)
      encoded(0x63, [text(base), integer(scope, 0x0a), integer(0, 0x0a), integer(0), integer(0), boolean(false), filter,
                     sequence(*attributes.map { |name| text(name) })].join)
    end

    def compare(name, attribute, value)
      encoded(0x6e, text(name) + sequence(text(attribute), text(value)))
    end

    # @param operation [Integer] 0 to add, 1 to delete, 2 to replace, 3 to increment
    def modify(name, operation, attribute, *values)
      change = sequence(integer(operation, 0x0a), sequence(text(attribute), set(*values)))
      encoded(0x66, text(name) + sequence(change))
    end

    def delete(name)
      text(name, 0x4a)
    end

    def rename(name, rdn)
      encoded(0x6c, text(name) + text(rdn) + boolean(true))
    end

    def add(name, attributes)
      pairs = attributes.map { |attribute, values| sequence(text(attribute), set(*values)) }
      encoded(0x68, text(name) + sequence(*pairs))
    end

    def extended(oid, value = nil)
      encoded(0x77, [text(oid, 0x80), *(text(value, 0x81) if value)].join)
    end

    private

    def set(*values)
      encoded(0x31, values.map { |value| text(value) }.join)
    end
  end

  # @param path [String] of the socket of a server
  # @param name [String] the DN to bind with
  def initialize(path, name, password)
    @socket = UNIXSocket.new(path)
    @number = 0
    bind = self.class.encoded(0x60, self.class.integer(3) + self.class.text(name) + self.class.text(password, 0x80))
    code = call(bind).last.code
    raise "#{name} cannot bind: #{code}" unless code.zero?
  end

  # @param operation [String]
  # @param controls [Array<String>]
  # @return [Array<Response>] all of them
  def call(operation, *controls)
    send_request(operation, *controls)
    responses = []
    responses << receive until responses.any? && FINAL.include?(responses.last.tag)
    responses
  end

  def send_request(operation, *controls)
    list = self.class.encoded(0xa0, controls.join) unless controls.empty?
    @socket.write(self.class.sequence(self.class.integer(@number += 1), operation, *list))
  end

  # @return [Response] the next one
  def receive
    message = Timeout.timeout(SECONDS) { read_message }
    number, operation, = parts(message)
    body = parts(operation[:content]) if FINAL.include?(operation[:tag])
    Response.new(message.byteslice(number[:size]..-1), operation[:tag], body && body.first[:content].unpack1('C'))
  end

  def close
    @socket.close
  end

  private

  # @return [String] the content of a message
  def read_message
    header = read(2)
    length = header.getbyte(1)
    length = read(length & 0x7f).each_byte.reduce(0) { |sum, byte| (sum << 8) + byte } if length > 0x7f
    read(length)
  end

  def read(length)
    return ''.b if length.zero?

    data = @socket.read(length)
    data&.bytesize == length ? data : raise(EOFError, 'the server has closed the connection')
  end

  # @return [Array<Hash>] tag, content and size of each part of a message
  def parts(bytes)
    found = []
    until bytes.empty?
      head = 2
      length = bytes.getbyte(1)
      if length > 0x7f
        head += length & 0x7f
        length = bytes.byteslice(2, head - 2).each_byte.reduce(0) { |sum, byte| (sum << 8) + byte }
      end
      found << { tag: bytes.getbyte(0), content: bytes.byteslice(head, length), size: head + length }
      bytes = bytes.byteslice((head + length)..-1)
    end
    found
  end
end
