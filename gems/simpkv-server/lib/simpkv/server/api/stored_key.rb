# frozen_string_literal: true

require 'simpkv/document/stored_form'
require 'simpkv/store/change'
require 'simpkv/server/api/key_body'
require 'simpkv/server/api/key_facts'

module Simpkv
  module Server
    module Api
      # A key or a folder in its store, for one request: the operations share the time of one. Changes compare and swap.
      class StoredKey
        # @return [Backend]
        attr_reader :backend
        # @return [String] the path in the store
        attr_reader :place
        # @return [String] the key as the request names it
        attr_reader :name

        # @return [Array(Array<Change>, Boolean)] for {#changes}: changes were lost, and the client lists the folder
        def self.lost
          [[Change.new(:resync, '', '')], false]
        end

        # @param backend [Backend]
        # @param store [Store]
        # @param place [String] the path in it
        # @param name [String] the key as the request names it
        def initialize(backend, store, place, name)
          @backend = backend
          @store = store
          @place = place
          @name = name
          @deadline = Deadline.new
        end

        # @return [Boolean] whether it is the folder above all others
        def root?
          Config.root?(@place)
        end

        # @param values [Boolean] whether the values of the document are needed
        # @return [String, nil] the document; nil if there is none
        def document(values)
          return if root?

          @store.public_send(values ? :get : :describe, @place, required: false, deadline: @deadline)
        rescue IsFolderError
          nil
        end

        # @param size [Boolean] see {KeyFacts}
        # @return [Hash{String => Object}] what the key has beside its document
        def facts(size)
          audit = backend.settings['audit']
          recorded = audit['reads'] ? 'reads' : 'writes' if audit
          { 'backend' => backend.name, 'audit' => recorded || 'none',
            **KeyFacts.of(@store, @place, @deadline, size: size) }
        end

        # @param list [KeyList]
        # @param values [Boolean] whether it has the values of keys
        # @param recurse [Boolean] whether it has what is below folders
        # @param expired [Boolean] whether it has the names of keys that have expired
        # @param times [Boolean] whether the names of keys have times and numbers of versions
        # @return [Hash] see {KeyList#of}
        def list(list, values, recurse:, expired:, times: false)
          read = ->(_name, document) { listed(document, values, expired, times) }
          found = if recurse
                    @store.tree(@place, &read)
                  else
                    @store.list(@place, chosen: list.choice, deadline: @deadline, &read)
                  end
          list.of(found, @place)
        end

        # @param conditions [Conditions]
        # @yieldparam stored [String, nil] the document
        # @yieldreturn [String, nil] the one to store in its place; nil for none
        # @return [Array(Boolean, String)] whether the key is new, and the document
        def replace(conditions)
          CompareAndSwap.repeat('others keep changing it: nothing was stored') do
            stored = current
            live = stored && !Versions.expired?(stored) ? stored : nil
            conditions.check(live)
            new = yield stored
            swap(stored, new) if new
            [live.nil?, new || stored]
          end
        end

        # @param conditions [Conditions]
        # @return [Boolean] whether there was such a key
        def delete(conditions)
          return @store.delete(@place, deadline: @deadline) unless conditions.given?

          CompareAndSwap.repeat do
            stored = current
            conditions.check(stored)
            next false if stored.nil?

            @store.delete(@place, expect: stored, deadline: @deadline) || CompareAndSwap.overtaken(@place)
          end
        end

        # @param since [String, nil] a cookie of the store
        # @param most [Integer] changes; of more, the caller is told that changes were lost
        # @return [Array(Array<Change>, Boolean)] the changes below the folder since then, and whether deletions are
        #   known
        def changes(since, most)
          changes = []
          @store.watch(@place, since: since) do |change|
            return [changes, change.complete] if change.kind == :ready
            return self.class.lost if changes.push(change).length > most
          end
        end

        # Deletes the folder with all that is below it.
        #
        # @return [Boolean] whether there was such a folder
        def delete_folder
          @store.deletetree(@place)
        end

        # @yieldreturn [Object]
        # @return [Object] what the block returns
        # @raise [Error] with the place
        def named
          yield
        rescue Error => e
          raise e.about(@place)
        end

        private

        def current
          @store.get(@place, latest: true, required: false, deadline: @deadline)
        end

        def swap(stored, new)
          CompareAndSwap.attempt do
            @store.put(@place, new, condition: stored ? :expect : :absent, expect: stored, deadline: @deadline)
          end
        end

        # @return [Hash] what a list of names has of a document; nothing of most, which have no times
        def times_of(document)
          return {} unless document.include?('"stored_at"')

          log = Versions.log(document)
          { **log.first.slice('stored_at', 'expires'), **(log.length > 1 ? { 'versions' => log.length } : {}) }
        end

        # @return [Hash, Error, nil]
        def listed(document, values, expired, times)
          over = Versions.expired?(document)
          return if over && !expired
          return KeyBody.of(Versions.version(document, 0), Versions.log(document).first) if values

          StoredForm.check(document)
          { **(times ? times_of(document) : {}), **(over ? { 'expired' => true } : {}) }
        rescue Error => e
          e
        end
      end
    end
  end
end
