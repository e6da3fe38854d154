# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # The bytes of responses that tell of changes.
      module ChangeForms
        # Server-sent events.
        module Events
          class << self
            # @return [String]
            def type
              'text/event-stream'
            end

            # @param changes [Array<Change>]
            # @return [String]
            def changes(changes)
              changes.map { |change| event(change.kind, { 'key' => change.key }, change.cookie) }.join
            end

            # @param deletions [Boolean] whether deletions since the client's cookie are known
            # @return [String] what follows is told as it happens
            def ready(cookie, deletions)
              event('ready', { 'deletions' => ChangeForms.known(deletions) }, cookie)
            end

            # @return [String] a comment, which tells that the connection is there
            def silence
              ":\n\n"
            end

            # @return [String] the end of a response that took its time: the client connects again by itself
            def late
              event('end', { 'detail' => 'connect again with the last id' })
            end

            # @param why [String]
            # @return [String]
            def last(why)
              event('end', { 'detail' => why })
            end

            # @return [Boolean] whether the first changes end the response
            def once?
              false
            end

            private

            # No cookie and no name of a key has a line break.
            def event(kind, data, cookie = nil)
              id = "id: #{cookie}\n" unless cookie.to_s.empty?
              "event: #{kind}\n#{id}data: #{Native.generate(data)}\n\n"
            end
          end
        end

        # An object in JSON, of the first changes.
        class Answer
          # @param cookie [String] from which the client continues if nothing changes
          def initialize(cookie)
            @cookie = cookie
          end

          # @return [String]
          def type
            'application/json'
          end

          # @param changes [Array<Change>]
          # @param deletions [Boolean] as for {Events.ready}
          # @return [String]
          def changes(changes, deletions: true, cookie: changes.last.cookie)
            shown = changes.map { |change| { 'change' => change.kind.to_s, 'key' => change.key } }
            Native.generate('changes' => shown, 'deletions' => ChangeForms.known(deletions), 'cookie' => cookie)
          end

          # @return [nil] the answer cannot begin yet
          def silence
            nil
          end

          # @return [String]
          def late
            changes([], cookie: @cookie)
          end

          # @return [nil] the connection ends without an answer
          def last(_why)
            nil
          end

          # @return [Boolean]
          def once?
            true
          end
        end

        # @return [String]
        def self.known(deletions)
          deletions ? 'known' : 'unknown'
        end
      end
    end
  end
end
