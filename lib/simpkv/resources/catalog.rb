# frozen_string_literal: true

require 'forwardable'

module Simpkv
  module Resources
    # The resources simpkv_key and simpkv_folder of one catalog: their backends, and the places of their keys. Its
    # methods raise Error and ConfigError, unless they say otherwise.
    class Catalog
      extend Forwardable

      # See {Backends}, which {#refresh} replaces.
      def_delegators :@backends, :backend, :store, :store_without_links, :with_store

      # @param catalog [Puppet::Resource::Catalog, nil] nil for `puppet resource`
      def initialize(catalog)
        @catalog = catalog
        reset
      end

      # Forgets everything if the file with the options has changed.
      #
      # @return [self]
      def refresh
        reset if @backends.outdated?
        self
      end

      # @return [Adapter::Documents] converts values
      def documents
        @documents ||= Adapter::Documents.new
      end

      # @param backend [Backend, nil] nil for the one of the resource
      # @return [Key] the key of a resource
      def key(backend = nil)
        Key.new(self, backend)
      end

      # @param resource [Puppet::Type]
      # @return [Folder] the folder of a resource
      def folder(resource)
        Folder.new(self, resource)
      end

      # @return [Array<Array(Purging::Entry, Object)>] the keys of the environment in the default backend, and
      #   their {#key}
      def instances
        backend = backend({})
        present = listed(backend, '').reject { |entry| entry.usable? && expired?(entry.document) }
        present.map { |entry| [entry, key(backend).pin(entry)] }
      end

      # @param document [String]
      # @return [Boolean] whether its key has expired; false for a document that cannot be read
      def expired?(document)
        Versions.expired?(document)
      rescue MalformedError
        false
      end

      # @return [Array<String>] the folders of the environment in the default backend
      def folders
        backend = backend({})
        store = store(backend)
        folders = store ? store.tree(backend.path(''), values: false, required: false)[:folders] : []
        folders.select { |folder| valid?(folder, backend) }.sort
      end

      # @param resource [Puppet::Type] a simpkv_key whose title stands for an entry without a usable name
      # @return [Purging::Entry, nil]
      def entry(resource)
        title = resource[:name]
        listed(backend(resource), Purging::Entries.folder_of(title)).find { |entry| entry.title == title }
      end

      # @param resource [Puppet::Type] a simpkv_key or a simpkv_folder
      # @return [String] its path in the store
      def path(resource)
        backend = backend(resource)
        name = resource.place
        Native.key_check(name, backend.case_sensitive?) unless name.match?(%r{\A/+\z})
        path = backend.path(name)
        return path unless resource.type == :simpkv_key && Config.root?(path)

        raise InvalidError, "'#{name}' is the folder of all keys, not a key"
      end

      # @param resource [Puppet::Type] a simpkv_key or a simpkv_folder
      # @return [Puppet::Type, nil] another one of the same place that comes before it in the catalog
      def other(resource)
        first = placed(resource.type).first[backend(resource).identity][canonical(resource)]
        first unless first.equal?(resource)
      end

      # @param backend [Backend]
      # @return [Hash{String => Puppet::Type}] each simpkv_key of the catalog in that store, by its canonical path
      # @raise [Error, ConfigError] the place of any key is unknown
      def keys(backend)
        keys, problem = placed(:simpkv_key)
        problem ? raise(problem) : keys[backend.identity]
      end

      # Adds a resource that a folder has generated to {#keys}.
      #
      # @param key [Object] its key, with an entry
      # @return [void]
      def add(key, resource)
        backend, path = key.place
        keys(backend)[backend.canonical(path)] = resource
      end

      # Finds resources by object: Puppet would load the type of each name that it looks up, and the type of packages
      # takes seconds.
      #
      # @param resource [Puppet::Type]
      # @return [Array<Puppet::Type>] the resources before it: those that install the gem, that manage the file with the
      #   options and the root folder, and the folders around it that are present. A folder that purges comes before a
      #   resource only if its listing numbers the title: what depends on it depends on all of its removals
      #   (docs/adr/0053)
      def before(resource)
        @packages ||= named(:package, 'simpkv')
        folders = folders_around(resource).reject { |folder| absent?(folder) || (resource.place && purge?(folder)) }
        @packages + files(resource) + folders
      end

      # @param reference [String] `key:BACKEND/PATH`, the global or full path of a key
      # @return [Array<Puppet::Type>] the simpkv_key of the catalog that manages it; none if that is unknown
      def referred(reference)
        kind, name, path = reference.split(%r{[:/]}, 3)
        return [] unless kind == 'key' && path

        backend = backend({ backend: name })
        [keys(backend)[backend.canonical(path)]].compact
      rescue Error, ConfigError, ArgumentError, SystemCallError
        [] # The user fails when it is evaluated.
      end

      # @return [Array<Puppet::Type>] the absent folders around the resource, which are removed after it
      def after(resource)
        folders_around(resource).select { |folder| absent?(folder) }
      end

      # @param resource [Puppet::Type] a simpkv_key or a simpkv_folder
      # @param state [Symbol] `:present`, `:absent` or `:protected`, which a removal of an empty folder does not concern
      # @return [Puppet::Type, nil] an absent folder around it, which contradicts that state
      def removed_around(resource, state)
        return if state == :absent

        folders_around(resource).find { |folder| absent?(folder) && (state == :present || recurse?(folder)) }
      end

      # @param backend [Backend]
      # @param folder [String] its path in the store
      # @return [Puppet::Type, nil] a simpkv_key of the catalog below the folder that is not absent
      # @raise [Error, ConfigError] as {#keys}
      def kept_below(backend, folder)
        prefix = "#{backend.canonical(folder)}/"
        keys(backend).find { |place, key| place.start_with?(prefix) && key.should(:ensure) != :absent }&.last
      end

      # Reads the keys of many resources, with one batch for each store.
      #
      # @param resources [Array<Puppet::Type>] simpkv_key
      # @yieldparam resource [Puppet::Type]
      # @yieldparam document [String, Exception, nil] nil if there is no such key
      # @return [void]
      def read(resources, &block)
        known = resources.group_by { |resource| attempt { backend(resource) } }
        known.each do |backend, same|
          outcomes = backend.is_a?(Exception) ? nil : attempt { read_paths(backend, same) }
          same.each do |resource|
            yield resource, (outcomes.is_a?(Hash) ? outcomes[resource] : outcomes || backend)
          end
        end
      end

      private

      def reset
        @backends = Backends.new(@catalog)
        @placed = {}
        @files = {}
        @listed = {}
      end

      def attempt(&block)
        @backends.attempt(&block)
      end

      # @return [Array<Purging::Entry>]
      def listed(backend, folder)
        store = store(backend)
        @listed[[backend.identity, folder]] ||=
          store ? Purging::Entries.new(backend, folder).list(store, recurse: true) || [] : []
      end

      def valid?(name, backend)
        Native.key_check(name, backend.case_sensitive?)
        true
      rescue Error, ArgumentError # invalid bytes
        false
      end

      # @return [Array(Hash{Array => Hash{String => Puppet::Type}}, Exception)] the resources of a type, by the identity
      #   of the store and the canonical path; and why the place of one of them is unknown
      def placed(type)
        @placed[type] ||= begin
          index = Hash.new { |stores, identity| stores[identity] = {} }
          same = @catalog.resources.select { |resource| resource.type == type && resource.place }
          problems = same.map { |resource| attempt { place(index, resource) } }.grep(Exception)
          [index, problems.first]
        end
      end

      def place(index, resource)
        index[backend(resource).identity][canonical(resource)] ||= resource
      end

      # @return [String] its path in the store, see Backend#canonical
      def canonical(resource)
        backend(resource).canonical(path(resource))
      end

      def folders_around(resource)
        return [] if placed(:simpkv_folder).first.empty?

        folders = placed(:simpkv_folder).first[backend(resource).identity]
        names = backend(resource).canonical(path_around(resource)).split('/')
        (1..names.length).map { |length| folders[names.first(length).join('/')] }.compact
      rescue Error, ConfigError, ArgumentError, SystemCallError
        [] # The resource fails when it is evaluated.
      end

      # @return [String] the path of the folder that has the place, or the entry that the title stands for
      def path_around(resource)
        return path(resource).rpartition('/').first if resource.place

        backend(resource).path(Purging::Entries.folder_of(resource[:name]))
      end

      def absent?(folder)
        folder.should(:ensure) == :absent
      end

      def purge?(folder)
        folder[:purge] == :true # rubocop:disable Lint/BooleanSymbol
      end

      def recurse?(folder)
        folder[:recurse] == :true # rubocop:disable Lint/BooleanSymbol
      end

      def files(resource)
        @files[[resource[:backend], resource[:global]]] ||= begin
          backend = attempt { backend(resource) }
          root = attempt { backend.place.path } unless backend.is_a?(Exception)
          named(:file, *[@backends.file, root].grep(String))
        end
      end

      def named(type, *names)
        return [] if names.empty?

        @catalog.resources.select { |resource| resource.type == type && names.include?(resource[:name].to_s) }
      end

      def read_paths(backend, resources)
        paths = resources.to_h { |resource| [resource, attempt { path(resource) }] }
        store = store(backend)
        wanted = paths.values.grep(String)
        documents = store && wanted.any? ? store.get_many(wanted) : {}
        paths.transform_values { |path| path.is_a?(String) ? found(documents[path]) : path }
      end

      # A folder of that name is no key.
      def found(outcome)
        outcome.is_a?(NotFoundError) || outcome.is_a?(IsFolderError) ? nil : outcome
      end
    end
  end
end
