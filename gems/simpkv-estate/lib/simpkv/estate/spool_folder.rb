# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/estate/run_write'

module Simpkv
  class Estate
    # The spool cannot be used, or has reached a limit. It is no {TransientError}: the option `soft` does not drop what
    # the spool cannot take.
    class SpoolError < Error; end

    # The folder of a {Spool}: a store in files with a document for each {RunWrite}, which is encrypted as in the
    # backend of the estate. Thread-safe.
    class SpoolFolder
      FOLDER = 'globals/spool'
      # The time in microseconds, the kind, and a digest of the node's name.
      NAME = /\A(\d{16})-([a-z]+)-(\h{16})\z/.freeze
      NODE = /\A\h{16}\z/.freeze
      NODE_LENGTH = 16
      LOCK = '.deliver.lock'
      # The user of the folder may write to it, so root follows no link there, and waits for nobody.
      FOUND = File::NOFOLLOW | File::NONBLOCK
      private_constant :NAME, :NODE, :NODE_LENGTH, :LOCK, :FOUND

      # What waits: the `name` of its document, its `kind`, `node` (a digest of the name), `time` (RFC 3339, UTC) and
      # the number of its `bytes`.
      Waiting = Struct.new(:name, :kind, :node, :time, :bytes)

      # @return [String]
      attr_reader :path

      # @param path [String] the folder; the first document makes it
      # @param estate [Estate]
      def initialize(path, estate)
        @path = path
        @estate = estate
        @mutex = Mutex.new
        @delivering = Mutex.new
        @last = 0
      end

      # @param certname [String]
      # @return [String] the end of the names of a node
      def self.node(certname)
        Digest::SHA256.hexdigest(certname)[0, NODE_LENGTH]
      end

      # @param name [String] of a document
      # @return [String] the end of the names of its node
      def self.node_of(name)
        name[-NODE_LENGTH, NODE_LENGTH]
      end

      # @return [Array<String>] the names of the documents, the oldest first
      # @raise [SpoolError]
      def names
        usable { there? ? Dir.children(File.join(@path, FOLDER)).grep(NAME).sort : [] }
      end

      # @return [Enumerator<String>] the files of documents that killed processes have not finished. The next
      #   {#exclusively} deletes them
      def leftovers
        Backend::FilePlace.enum_for(:each_leftover, @path, [FOLDER])
      end

      # @return [Array<String>] the {.node} of each node of which a document could not be delivered for a reason of its
      #   own, as far as the last deliveries have tried. They are in the file of the lock, so that all processes return
      #   the same
      def stuck
        File.open(lock_path, File::RDONLY | FOUND, &:read).split("\n").grep(NODE)
      rescue SystemCallError
        []
      end

      # Only for the block of {#exclusively}.
      #
      # @param nodes [Array<String>] see {#stuck}
      # @raise [SpoolError]
      def stuck=(nodes)
        return if nodes.sort == stuck.sort

        usable do
          File.open(lock_path, File::WRONLY | FOUND) do |file|
            next unless file.stat.file? && file.stat.nlink == 1

            file.truncate(file.syswrite(nodes.map { |node| "#{node}\n" }.join))
          end
        end
      end

      # @return [Array<Waiting>] the oldest first
      # @raise [SpoolError]
      def waiting
        names.map { |name| described(name) }.compact
      end

      # @param name [String]
      # @return [RunWrite, nil] nil if there is no such document
      # @raise [Error] it cannot be read
      def read(name)
        document = store.get("#{FOLDER}/#{name}", required: false) if document?(name)
        document && RunWrite.of(Codec.decode(document)[:value])
      end

      # @param write [RunWrite]
      # @param document [String]
      # @return [void]
      # @raise [SpoolError]
      def put(write, document)
        usable { store.put("#{FOLDER}/#{name(write)}", document, condition: :absent) }
      rescue ExistsError # Another process has the same time for the same node.
        retry
      end

      # @param name [String]
      # @return [Boolean] whether it was there
      # @raise [SpoolError]
      # @raise [MalformedError] it is no file
      def delete(name)
        document?(name) && usable { store.delete("#{FOLDER}/#{name}") }
      end

      # Yields while no other thread and no other process does. The kernel unlocks the file of a process that dies.
      #
      # @param wait [Boolean] whether to wait for the other one
      # @return [Object, nil] the result of the block; nil if there is another one
      # @raise [SpoolError]
      def exclusively(wait, &block)
        return unless wait ? @delivering.lock : @delivering.try_lock

        begin
          locked(wait, &block)
        ensure
          @delivering.unlock
        end
      end

      private

      # Readers do not make the folder: the user of puppetserver does.
      def there?
        File.directory?(File.join(@path, FOLDER))
      end

      def store
        @store || @mutex.synchronize { @store ||= @estate.encrypted(Store.open('file', 'root_path' => @path)) }
      end

      def usable
        yield
      rescue NotFoundError, ConditionError, InterruptedError
        raise
      rescue Error, ConfigError, SystemCallError => e
        raise SpoolError, "the spool '#{@path}' cannot be used: #{e.message}. The user of Puppet must be able to " \
                          "write there ('spool' of 'estate')", cause: nil
      end

      # The times of one process only increase, even if its clock does not.
      def name(write)
        time = @mutex.synchronize { @last = [(Time.now.to_r * 1_000_000).to_i, @last + 1].max }
        format('%<time>016d-%<kind>s-%<node>s', time: time, kind: write.class.kind,
                                                node: self.class.node(write.certname))
      end

      # @return [Waiting, nil] nil if it has been delivered meanwhile
      def described(name)
        stat = stat(name) or return

        micros, kind, node = name.match(NAME).captures
        Waiting.new(name, kind, node, Time.at(0, micros.to_i).utc.iso8601(6), stat.size)
      end

      # @return [File::Stat, nil] nil if there is nothing of that name
      def stat(name)
        usable do
          File.lstat(file(name))
        rescue Errno::ENOENT
          nil
        end
      end

      def file(name)
        File.join(@path, FOLDER, name)
      end

      # Something else than a file of that name must not fail the catalogs of other nodes.
      def document?(name)
        stat = stat(name) if name.match?(NAME)
        return false unless stat
        raise MalformedError, "'#{file(name)}' is not a file: delete it by hand" unless stat.file?

        true
      end

      def locked(wait)
        file = usable { lock_file }
        return unless file.flock(wait ? File::LOCK_EX : File::LOCK_EX | File::LOCK_NB)

        leftovers.each { |left| File.delete(left) }
        yield
      ensure
        file&.close
      end

      def lock_path
        File.join(@path, LOCK)
      end

      def lock_file
        made_lock || File.new(lock_path, File::RDWR | FOUND)
      end

      # Root may be the first to deliver. It gives away only what it has made.
      #
      # @return [File, nil] nil if there is one
      def made_lock
        file = File.new(lock_path, File::RDWR | File::CREAT | File::EXCL | File::NOFOLLOW, 0o600)
        owner = File.stat(@path)
        file.chown(owner.uid, owner.gid) if Process.euid.zero? && file.stat.nlink == 1
        file
      rescue Errno::EEXIST
        nil
      end
    end
    private_constant :SpoolFolder
  end
end
