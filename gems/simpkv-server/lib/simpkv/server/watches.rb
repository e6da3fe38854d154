# frozen_string_literal: true

require 'simpkv/server/watches/folder'
require 'simpkv/server/watches/reactor'
require 'simpkv/server/watches/stream'

module Simpkv
  module Server
    # The clients that wait for changes of keys. A folder is watched once, by a thread, for all clients that wait for
    # its changes; no client has a thread (docs/adr/0134). Thread-safe.
    class Watches
      # Folders that are watched at the same time.
      FOLDERS = 64
      # Seconds for which a folder without clients is watched: a client that asks again misses nothing.
      IDLE = 300
      # Seconds without a client after which another folder may take its place.
      USED = 1
      # Seconds between two looks at the rights of clients.
      CHECK = 5
      private_constant :FOLDERS, :IDLE, :USED, :CHECK

      # @param site [Site]
      # @param owner [Caller] in whose name the service watches
      # @param most [Integer] clients
      # @param log [Log]
      def initialize(site, owner, most, log)
        @site = site
        @owner = owner
        @most = most
        @log = log
        @mutex = Mutex.new
        @folders = {}
      end

      # Adds a stream to those that are told of changes in a folder.
      #
      # @param backend [String]
      # @param path [String] of a folder in its store
      # @param stream [Stream]
      # @param since [String, nil] a cookie
      # @return [Array(Folder, Array<Change>, String)] the folder, and what {Folder#join} returns
      # @raise [Problem] there are too many folders; the service ends
      # @raise [Error] it cannot be watched
      def join(backend, path, stream, since)
        folder, known = @mutex.synchronize { found(backend, path) }
        [folder, *folder.join(stream, since)]
      rescue Error
        forget(folder)
        known ? retry : raise # Its watch may have ended just now, for instance because the folder was made anew.
      end

      # @param stream [Stream] that waits
      # @return [#call] takes the connection of its client, after the head of the response
      # @raise [Problem] there are too many clients; the service ends
      def hold(stream)
        reactor = @mutex.synchronize do
          refuse_ended
          @reactor ||= Reactor.new(@log)
        end
        refuse("#{@most} clients wait for changes") if reactor.size >= @most
        ->(connection) { reactor.add(stream, connection) }
      end

      # @return [Array(Integer, Integer)] the numbers of clients that wait, and of folders that are watched
      def counts
        @mutex.synchronize { [@reactor ? @reactor.size : 0, @folders.count { |_, folder| folder.alive? }] }
      end

      # Ends all that wait, and refuses new ones: the clients connect again, to the program that follows.
      #
      # @return [void]
      def stop
        folders, reactor, checker = @mutex.synchronize do
          @ended = true
          [@folders.values, @reactor, @checker]
        end
        checker&.kill
        reactor&.stop
        folders.each(&:stop)
      end

      private

      # @return [Array(Folder, Boolean)] and whether it was watched already
      def found(backend, path)
        refuse_ended
        known = @folders[[backend, path]]
        return [known, true] if known&.alive?

        make_room
        @checker ||= Thread.new { check }
        made = @folders[[backend, path]] = Folder.new(@site.store(@owner, backend).last, path, @log)
        [made, false]
      end

      # A client that asks for one folder after the other takes none from others.
      def make_room
        @folders.delete_if { |_, folder| !folder.alive? }
        return if @folders.length < FOLDERS

        place, idle = @folders.find { |_, folder| folder.idle_for?(USED) }
        refuse("#{FOLDERS} folders are watched") unless idle
        @folders.delete(place)
        end_later(idle)
      end

      def refuse_ended
        refuse('the service ends') if @ended
      end

      def refuse(why)
        raise Problem.new(503, "#{why}: try again later")
      end

      # Ends a watch, also one that has not begun in time.
      def forget(folder)
        @mutex.synchronize { @folders.delete_if { |_, each| each.equal?(folder) } }
        end_later(folder) if folder
      end

      # It may take its time.
      def end_later(folder)
        Thread.new { folder.stop }
      end

      # Ends streams whose callers have lost the right, and watches without clients.
      def check
        loop do
          sleep(CHECK)
          folders = @mutex.synchronize { @folders.values }
          folders.each(&:check)
          folders.select { |folder| folder.idle_for?(IDLE) }.each { |folder| forget(folder) }
        end
      end
    end
  end
end
