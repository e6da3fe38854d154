# frozen_string_literal: true

require 'securerandom'
require 'simpkv/access/declarations'
require 'simpkv/estate'
require 'simpkv/access/state_documents'

module Simpkv
  module Access
    # The declared users, roles and bindings, and what was done about them, as documents below `estate/access`:
    #
    # directory:: `unique_id` of the base entry at the first apply
    # rules:: `printed`, the rules that an administrator was asked to apply
    # servers:: `narrow`, whether server-wide rules that give values away are to be deleted, and `removed`, those that
    #           were, by the URI of the server
    # users/NAME:: `uid`, `password` (the reference), `stamp` (of the password that the server has accepted), `deleting`
    # roles/NAME:: `uid`, `grants` (rights by prefix), `status` (`new`, `ours`, `existing`), `added` (the members that
    #              bindings have added, as DNs), `deleting`
    # bindings/NAME:: `users`, `groups`, `roles`
    #
    # Each document says what will be done before it is done. Changes compare and swap.
    class State
      # The documents at one time.
      #
      # unique_id:: of the base entry; nil before the first apply
      # users, roles, bindings:: the documents by name
      # printed:: the rules that an administrator was asked to apply
      # servers:: the document; nil for none
      Snapshot = Struct.new(:unique_id, :users, :roles, :bindings, :printed, :servers) do
        # @param declarations [Declarations]
        # @param prune [Boolean] whether to delete what the declarations lack
        # @return [Snapshot] as it will be when these are declared
        def with(declarations, prune: false)
          dup.tap do |snapshot|
            snapshot.users = State.merged(users, declarations.users, prune) { |user| user }
            snapshot.roles = State.merged(roles, declarations.roles, prune) { |grants| { 'grants' => grants } }
            snapshot.bindings = prune ? declarations.bindings : bindings.merge(declarations.bindings).sort.to_h
          end
        end

        # @param objects [Array<Array(String, String)>] the section and the name of each
        # @return [Snapshot] as it will be when these are to be deleted
        def without(objects)
          dup.tap do |snapshot|
            snapshot.users = marked('users', objects)
            snapshot.roles = marked('roles', objects)
            snapshot.bindings = bindings.reject { |name, _| objects.include?(['bindings', name]) }
          end
        end

        # @param wish [Boolean]
        # @return [Snapshot] as it will be when server-wide rules are to be deleted, or put back
        def narrowed(wish)
          dup.tap { |snapshot| snapshot.servers = { 'removed' => removed, 'narrow' => wish } }
        end

        # @return [Boolean] whether server-wide rules are to be deleted
        def narrow?
          servers.to_h.fetch('narrow', false)
        end

        # @return [Hash{String => Array<String>}] the server-wide rules that were deleted, by server
        def removed
          servers.to_h.fetch('removed', {})
        end

        # @param object [Object] as in {Declarations}
        # @return [Snapshot] as it will be when this object is declared
        def with_one(section, name, object)
          with(Snapshot.new(nil, {}, {}, {}).tap { |declared| declared[section] = { name => object } })
        end

        # @return [Snapshot] as it will be when this object is to be deleted, and no binding names it
        def without_one(section, name)
          left = section == 'bindings' ? {} : bindings.select { |_, binding| binding[section].include?(name) }
          unbound = left.transform_values { |binding| binding.merge(section => binding[section] - [name]) }
          without([[section, name]]).tap { |snapshot| snapshot.bindings = snapshot.bindings.merge(unbound) }
        end

        # @return [Object, nil] as in {Declarations}; nil for an object that the state does not have
        def declaration(section, name)
          document = self[section][name]
          return document if document.nil? || section == 'bindings'

          section == 'users' ? document.slice('password') : document['grants']
        end

        # @return [Hash] plain data, from which {Declarations} reads what is declared
        def declared
          users, roles = %w[users roles].map do |section|
            live = self[section].reject { |_, document| document['deleting'] }
            live.to_h { |name, _| [name, declaration(section, name)] }
          end
          Declarations.data(users, roles, bindings.select { |_, binding| binds?(binding) })
        end

        private

        # @return [Boolean] false for a binding that {#without_one} has left without users or roles, until it is deleted
        #   as well
        def binds?(binding)
          binding['roles'].any? && binding.values_at('users', 'groups').any?(&:any?)
        end

        def marked(section, objects)
          self[section].to_h do |name, document|
            [name, objects.include?([section, name]) ? document.merge('deleting' => true) : document]
          end
        end
      end

      NEW_ROLE = { 'status' => 'new', 'added' => [] }.freeze
      private_constant :NEW_ROLE

      # @param documents [Hash{String => Hash}]
      # @param declared [Hash{String => Object}]
      # @yieldparam object [Object] declared
      # @yieldreturn [Hash] the members of its document
      # @return [Hash{String => Hash}] the documents when these objects are declared
      def self.merged(documents, declared, prune)
        gone = prune ? documents.keys - declared.keys : []
        new = declared.to_h do |name, object|
          old = documents.fetch(name, {})
          [name, old.reject { |member, _| member == 'deleting' }.merge(yield(object))]
        end
        documents.merge(new) { |_, _, document| document }
                 .to_h { |name, document| [name, gone.include?(name) ? document.merge('deleting' => true) : document] }
                 .sort.to_h
      end

      # @param estate [Estate]
      def initialize(estate)
        @documents = StateDocuments.new(estate)
      end

      # @return [Snapshot]
      # @raise [MalformedError] a document cannot be read; names the key
      # @raise [Error]
      def read
        users, roles, bindings = sections
        Snapshot.new(@documents.get('directory')&.fetch('unique_id', nil), users, roles, bindings,
                     printed, @documents.get('servers'))
      end

      # @return [Array<String>] the rules that an administrator was asked to apply
      def printed
        @documents.get('rules')&.fetch('printed', nil).to_a
      end

      # Stores the rules that an administrator was asked to apply.
      def note_printed(rules)
        @documents.put('rules', 'printed' => rules)
      end

      # Changes which rules of a server were deleted.
      #
      # @param uri [String]
      # @yieldparam rules [Array<String>]
      # @yieldreturn [Array<String>]
      # @return [void]
      def change_removed(uri)
        @documents.update('servers') do |document|
          removed = document['removed'].merge(uri => yield(document['removed'].fetch(uri, [])))
          document.merge('removed' => removed.reject { |_, rules| rules.empty? })
        end
      end

      # @return [Hash, nil] the document of a user or role
      def read_one(section, name)
        @documents.get(section, name)
      end

      # Stores the identity of the directory, unless there is one.
      def pin(unique_id)
        @documents.put_if_absent('directory', 'unique_id' => unique_id)
      end

      # Stores what a snapshot has beyond what is stored. The UUIDs of new users and roles are made here. In the order
      # of the writes, a binding never names a user or a role that is not declared, or is to be deleted: so what is
      # stored after a crash, or is read meanwhile, has no such conflict.
      #
      # @param from [Snapshot] as it was read
      # @param to [Snapshot] see {Snapshot#with} and {Snapshot#without}
      # @return [void]
      def save(from, to)
        kept, deleted = [false, true].map do |deleting|
          %w[users roles].map { |section| to[section].select { |_, each| each.key?('deleting') == deleting } }
        end
        store(from, *kept)
        store_servers(from, to)
        to.bindings.each { |name, binding| @documents.put('bindings', name, binding) if from.bindings[name] != binding }
        (from.bindings.keys - to.bindings.keys).each { |name| @documents.delete('bindings', name) }
        store(from, *deleted)
      end

      # @param section [String]
      # @yieldparam document [Hash]
      # @yieldreturn [Hash] the new one
      # @return [void]
      def change(section, name)
        @documents.update(section, name) { |document| yield(document) if document }
      end

      # Removes the document of a user or role that is to be deleted, unless it was declared again meanwhile.
      #
      # @return [Boolean]
      def forget(section, name)
        @documents.delete_if(section, name) { |document| document['deleting'] }
      end

      private

      # Reads the bindings before the users and roles, and after them, until they are the same: see {#save}.
      #
      # @return [Array<Hash>] users, roles and bindings
      def sections
        bindings = @documents.section('bindings')
        CompareAndSwap.repeat('others change the bindings each time that simpkv reads them: try again') do
          before = bindings
          users, roles, bindings = %w[users roles bindings].map { |section| @documents.section(section) }
          bindings == before ? [users, roles, bindings] : CompareAndSwap.overtaken
        end
      end

      def store_servers(from, to)
        return if from.narrow? == to.narrow?

        @documents.update('servers') { |document| { 'removed' => {} }.merge(document.to_h, 'narrow' => to.narrow?) }
      end

      def store(from, users, roles)
        store_section('users', from.users, users, {})
        store_section('roles', from.roles, roles, NEW_ROLE)
      end

      def store_section(section, from, to, defaults)
        to.each do |name, document|
          next if from[name] == document

          declared = document.slice('password', 'grants', 'deleting')
          @documents.update(section, name) do |stored|
            kept = stored || { 'uid' => SecureRandom.uuid }.merge(defaults)
            kept.reject { |member, _| member == 'deleting' }.merge(declared)
          end
        end
      end
    end
  end
end
