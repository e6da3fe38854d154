# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'net/http'
require 'openssl'
require 'sqlite3'

# Clients that write documents, each to its own place: what a site might use in place of simpkv, and simpkv. Each has
# `put`, which takes documents by key and returns when they are durable, and `get`.
module WriteClients
  # A table in WAL mode that syncs each commit. Several keys are one transaction.
  class Sqlite
    def initialize(folder)
      @database = SQLite3::Database.new(File.join(folder, 'sqlite.db'))
      @database.busy_timeout = 60_000
      @database.execute_batch('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; ' \
                              'CREATE TABLE IF NOT EXISTS kv (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID;')
      @write = @database.prepare('INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v')
    end

    def put(documents)
      return documents.each { |pair| @write.execute(*pair) } if documents.one?

      @database.transaction(:immediate) { documents.each { |pair| @write.execute(*pair) } }
    end

    def get(key)
      @database.get_first_value('SELECT v FROM kv WHERE k = ?', key)
    end
  end

  # The steps of a put into a file, without locks, checks and access rights: what the disk takes.
  class BareFiles
    def initialize(folder)
      @folder = File.join(folder, 'bare')
      FileUtils.mkdir_p(@folder)
    end

    def put(documents)
      documents.each do |key, document|
        write("#{key}.new", document)
        File.rename(path("#{key}.new"), path(key))
        File.open(@folder, &:fsync)
      end
    end

    def get(key)
      File.read(path(key))
    end

    private

    def path(name)
      File.join(@folder, name)
    end

    def write(name, document)
      File.open(path(name), File::WRONLY | File::CREAT | File::EXCL) do |file|
        file.syswrite(document)
        file.fsync
      end
    end
  end

  # The JSON gateway of an etcd, one connection.
  class Etcd
    # @param place [Hash{Symbol => Object}] port:, and the files cacert:, certificate:, key: of a client
    def initialize(place)
      certificate, key = %i[certificate key].map { |name| File.read(place.fetch(name)) }
      @http = Net::HTTP.new('127.0.0.1', place.fetch(:port)).tap do |http|
        http.use_ssl = true
        http.ca_file = place.fetch(:cacert)
        http.cert = OpenSSL::X509::Certificate.new(certificate)
        http.key = OpenSSL::PKey.read(key)
        http.start
      end
    end

    def put(documents)
      documents.each { |key, document| ask('/v3/kv/put', key: [key].pack('m0'), value: [document].pack('m0')) }
    end

    def get(key)
      ask('/v3/kv/range', key: [key].pack('m0'))['kvs'].first['value'].unpack1('m0')
    end

    private

    def ask(path, body)
      response = @http.post(path, JSON.generate(body), 'content-type' => 'application/json')
      response.is_a?(Net::HTTPOK) ? JSON.parse(response.body) : raise("etcd: #{response.code}")
    end
  end

  # simpkv's own store. Several keys are one batch.
  class Files
    def initialize(folder)
      @store = Simpkv::Store.open('file', 'root_path' => File.join(folder, 'simpkv'))
    end

    def put(documents)
      return @store.put("globals/keys/#{documents.keys.first}", documents.values.first) if documents.one?

      failed = @store.put_many(documents.transform_keys { |key| "globals/keys/#{key}" }).values.grep(Exception)
      raise failed.first if failed.any?
    end

    def get(key)
      @store.get("globals/keys/#{key}")
    end
  end

  # Processes that write with clients of their own, all at the same time: a contestant of {SideBySide}. An operation is
  # one key of one process.
  class Processes
    # @param number [Integer] of processes
    # @param documents [Array(String, String)]
    # @param batch [Integer] keys that a client puts at once
    # @param same [Boolean] whether the clients write the same keys again and again
    # @yieldreturn [Object] the client of a process
    def initialize(number, documents, batch: 1, same: false, &client)
      @documents = documents
      @batch = batch
      @same = same
      @name = format('%<own>x', own: object_id)
      @workers = Array.new(number) { |worker| start(worker, client) }
    end

    # @return [nil] unknown
    def processor; end

    # @return [String] what the first client has stored
    def answer
      ask([@workers.first], 'answer').first
    end

    # @return [Float] seconds a key
    def time(count)
      rounds = (count.to_f / @batch).ceil
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      ask(@workers, rounds)
      (Process.clock_gettime(Process::CLOCK_MONOTONIC) - began) / (rounds * @batch * @workers.length)
    end

    def stop
      # Processes that started later have copies of the sockets, so that to close one does not end its process.
      @workers.each do |worker|
        worker[:socket].puts('end')
        Process.wait(worker[:pid])
      end
    end

    private

    def start(worker, client)
      ours, theirs = UNIXSocket.pair
      pid = fork do
        ours.close
        serve(theirs, client.call, worker)
        exit!(0)
      end
      theirs.close
      { socket: ours, pid: pid }
    end

    def ask(workers, question)
      workers.each { |worker| worker[:socket].puts(question) }
      workers.map { |worker| worker[:socket].gets&.chomp || raise('a client has failed') }
    end

    def serve(socket, client, worker)
      turn = 0
      while (question = socket.gets&.chomp) && question != 'end'
        Integer(question == 'answer' ? 1 : question).times { client.put(documents_of(worker, turn += 1)) }
        socket.puts(question == 'answer' ? client.get(key_of(worker, turn, 0))[0, 20] : 'done')
      end
    end

    def documents_of(worker, turn)
      (0...@batch).to_h { |index| [key_of(worker, turn, index), @documents[@same ? turn % 2 : 0]] }
    end

    def key_of(worker, turn, index)
      @same ? "#{@name}-#{worker}-#{index}" : "#{@name}-#{worker}-#{turn}-#{index}"
    end
  end
end
