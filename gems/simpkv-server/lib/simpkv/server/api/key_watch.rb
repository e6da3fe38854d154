# frozen_string_literal: true

require 'simpkv/server/api/change_forms'
require 'simpkv/server/problem'
require 'simpkv/server/watches'

module Simpkv
  module Server
    module Api
      # A request that waits for changes of the keys of a folder, and of all folders below it: for events, or for one
      # answer. It has names, no values.
      class KeyWatch
        PARAMETERS = %w[watch wait since].freeze
        # The header in which a client of events names the last one that it has.
        LAST = 'HTTP_LAST_EVENT_ID'
        # Seconds until an answer, at most; and those of events, after which the client connects again.
        WAIT_MAX = 600
        EVENTS_MAX = 3600
        # Changes since a cookie that are told one by one.
        MOST = 1000
        private_constant :LAST, :WAIT_MAX, :EVENTS_MAX, :MOST

        # @param query [Hash{String => String}]
        # @return [Boolean] whether the request waits for changes
        def self.asked?(query)
          PARAMETERS.any? { |name| query.key?(name) }
        end

        # @param request [Rack::Request]
        # @param watches [Watches]
        # @yield looks at the rights of the caller again: see {Watches::Stream}
        # @raise [Problem] a parameter is wrong
        def initialize(request, watches, &check)
          @watches = watches
          @check = check
          raise Problem.new(400, 'changes are for GET, not for HEAD') if request.head?

          query = request.GET
          @wait = query['wait'] && seconds(query['wait'])
          @since = query['since'] || request.env[LAST]
          @since = nil if @since == ''
          return if (query['watch'] == 'true') ^ !@wait.nil?

          raise Problem.new(400, 'changes: give either watch=true or a time to wait, such as wait=60s, and with ' \
                                 'since the cookie to continue from')
        end

        # @param key [StoredKey] of the folder
        # @return [Array] the response of Rack. It may wait, without a thread
        # @raise [Error, Problem]
        def response(key)
          stream = Watches::Stream.new(Clock.now + (@wait || EVENTS_MAX), &@check)
          folder, kept, cookie = @watches.join(key.backend.name, key.place, stream, @since)
          begun = respond(stream, cookie, *missed(key, kept)) { folder.leave(stream) }
        ensure
          folder.leave(stream) if folder && !begun
        end

        private

        # @return [Integer]
        def seconds(text)
          seconds = Coercion.convert(:lifetime, text)
          return seconds if seconds&.between?(1, WAIT_MAX)

          raise Problem.new(400, "the parameter 'wait' must be a time of at most #{WAIT_MAX} seconds, such as 60s")
        end

        # The audit log of reads has a line for each client, though the folder is watched once for all. The store itself
        # may repeat changes since a cookie: a client that has missed none would never wait.
        #
        # @param kept [Array<Change>, nil] see {Watches::Folder#join}
        # @return [Array(Array<Change>, Boolean)] see {StoredKey#changes}
        def missed(key, kept)
          if kept
            key.changes(nil, MOST) if key.backend.settings['audit']&.fetch('reads', false)
            return [kept, true]
          end

          from = Watches::Folder.cookie_of_store(@since)
          from == '' ? StoredKey.lost : key.changes(from, MOST)
        end

        # @yield is called when the response has ended
        def respond(stream, cookie, changes, known, &leave)
          form = @wait ? ChangeForms::Answer.new(cookie) : ChangeForms::Events
          if @wait && (@since.nil? || changes.any? || !known)
            leave.call
            return [200, head(form), [form.changes(changes, deletions: known, cookie: cookie)]]
          end

          hold = @watches.hold(stream)
          stream.start(form, @wait ? '' : first(changes, cookie, known), leave)
          [200, { **head(form), 'rack.hijack' => hold }, []]
        end

        def head(form)
          { 'content-type' => form.type }
        end

        # @return [String]
        def first(changes, cookie, known)
          ChangeForms::Events.changes(changes) + ChangeForms::Events.ready(cookie, known)
        end
      end
    end
  end
end
