# frozen_string_literal: true

require 'base64'
require 'json'

# The requests of HTTP with which a client of a store reads and writes keys of the folder `app1`.
module HttpStores
  KEYS = 100
  VALUE = 'Xu8#kq!0' * 8
  # The numbers of values, all of which differ.
  NUMBERS = Enumerator.produce(1, &:succ)
  private_constant :VALUE, :NUMBERS

  # @return [String]
  def self.request(method, path, body = nil, headers = {})
    headers = { 'Host' => 'localhost', **headers, **(body ? { 'Content-Length' => body.bytesize } : {}) }
    "#{method} #{path} HTTP/1.1\r\n#{headers.map { |pair| "#{pair.join(': ')}\r\n" }.join}\r\n#{body}"
  end

  # @param number [Integer]
  # @return [String] the name of a key
  def self.name(number)
    format('key%<number>03d', number: number)
  end

  # @return [String] one that no key has had
  def self.value
    "#{VALUE}#{NUMBERS.next}"
  end

  # The gateway of etcd for JSON.
  class Etcd
    # @param number [Integer] of the key
    def get(number, _answer = nil)
      request('kv/range', 'key' => key(number))
    end

    def list(_number, _answer)
      request('kv/range', folder.merge('limit' => KEYS))
    end

    # @param answer [String, nil] to the write of the same client before: the key must be as that has left it
    def put(number, answer)
      change = { 'key' => key(number), 'value' => Base64.strict_encode64(HttpStores.value) }
      return request('kv/put', change) unless answer

      refuse(answer) unless answer.match?(%r{\AHTTP/1.1 200}) && (answer.include?('"succeeded":true') || first?(answer))
      known = { 'key' => key(number), 'target' => 'MOD', 'modRevision' => answer[/"revision":"(\d+)"/, 1] }
      request('kv/txn', 'compare' => [known], 'success' => [{ 'requestPut' => change }])
    end

    def watch
      request('watch', 'create_request' => folder)
    end

    # @param text [String] of the answer to {#watch}
    # @return [Integer] how many changes it tells
    def told(text)
      text.scan('"events":[').length
    end

    private

    def first?(answer)
      !answer.include?('"responses"')
    end

    def refuse(answer)
      raise "etcd: #{answer}"
    end

    def folder
      { 'key' => Base64.strict_encode64('app1/'), 'range_end' => Base64.strict_encode64('app10') }
    end

    def key(number)
      Base64.strict_encode64("app1/#{HttpStores.name(number)}")
    end

    def request(path, data)
      HttpStores.request('POST', "/v3/#{path}", JSON.generate(data))
    end
  end

  # The service of simpkv.
  class Simpkv
    def get(number, _answer = nil)
      HttpStores.request('GET', path(number))
    end

    def list(_number, _answer)
      HttpStores.request('GET', "/v1/keys/app1/?limit=#{KEYS}")
    end

    def put(number, answer)
      raise "simpkv: #{answer}" unless answer.nil? || answer.match?(%r{\AHTTP/1.1 20[14]})

      known = answer ? { 'If-Match' => answer[/^etag: (.*)\r$/i, 1] } : {}
      HttpStores.request('PUT', path(number), JSON.generate('value' => HttpStores.value), known)
    end

    def watch
      HttpStores.request('GET', '/v1/keys/app1/?watch=true')
    end

    def told(text)
      text.scan(/^event: put$/).length
    end

    private

    def path(number)
      "/v1/keys/app1/#{HttpStores.name(number)}"
    end
  end
end
