# frozen_string_literal: true

require 'simpkv/backend/ldap_access'

module Simpkv
  # Compares the keys of one server of a directory with those of another one. A replica whose replication has failed,
  # or which may not read all entries of its supplier, answers as if keys were missing.
  class ServerComparison
    # The seconds for replication to bring changes that are made meanwhile, and the pause between two looks.
    SETTLING = 10
    PAUSE = 0.5
    # The keys that are read at once.
    SLICE = 500
    private_constant :SETTLING, :PAUSE, :SLICE

    # @param settings [Hash{String => Object}] of a backend of type ldap
    # @param uri [String] the server with the keys that others should have
    # @param roots [Array<String>] the folders to compare
    # @raise [Simpkv::Error] not all of its keys can be read
    def initialize(settings, uri, roots)
      @settings = settings
      @roots = roots
      @store = connect(uri)
      @keys = keys(@store)
    end

    # @return [Integer] the number of keys at the first server
    def count
      @keys.length
    end

    # Compares the keys and their documents. Waits for changes that replication is about to bring.
    #
    # @param uri [String] another server
    # @return [Hash{Symbol => Array<String>}] the keys that the other server lacks, has with another document, or has in
    #   addition, by `:missing`, `:different` and `:surplus`
    # @raise [Simpkv::Error] not all of its keys can be read
    def to(uri)
      other = connect(uri)
      lasting(other, differing(keys(other)))
    ensure
      other&.close
    end

    # @return [void]
    def close
      @store.close
    end

    private

    # No failover, so that each answer is that of this server.
    def connect(uri)
      LdapAccess.open(@settings, 'ldap_uri' => uri, 'write_uri' => uri)
    end

    # @return [Hash{String => Integer}] by key, a hash of its document, or of the reason why it cannot be read
    def keys(store)
      found = {}
      @roots.each do |root|
        listing = store.tree(root, required: false) do |path, document|
          found["#{root}/#{path}"] = document.hash
          nil
        end
        listing[:errors].each { |path, why| found["#{root}/#{path}"] = why.to_s.hash }
      end
      found
    end

    def differing(found)
      (@keys.keys | found.keys).reject { |path| @keys[path] == found[path] }
    end

    # @return [Hash{Symbol => Array<String>}]
    def lasting(other, paths)
      give_up = Clock.now + SETTLING
      all = paths.each_slice(SLICE).map do |some|
        different = differences(other, some)
        until different.empty? || Clock.now > give_up
          sleep(PAUSE)
          different = differences(other, different.keys)
        end
        different
      end
      all.reduce({}, :merge).group_by(&:last).transform_values { |pairs| pairs.map(&:first).sort }
    end

    # @return [Hash{String => Symbol}] by key, how the other server differs
    def differences(other, paths)
      here = @store.get_many(paths)
      there = other.get_many(paths)
      paths.to_h { |path| [path, difference(here[path], there[path])] }.compact
    end

    # @return [Symbol, nil]
    # @raise [Simpkv::Error] a server did not answer, or refused to
    def difference(here, there)
      failure = [here, there].find { |document| document.is_a?(TransientError) || document.is_a?(DeniedError) }
      raise failure if failure

      missing = [here, there].map { |document| document.is_a?(NotFoundError) }
      return { [true, false] => :surplus, [false, true] => :missing }[missing] if missing.any?

      :different unless comparable(here) == comparable(there)
    end

    # @return [String] the document, or why it cannot be read
    def comparable(document)
      document.is_a?(Simpkv::Error) ? document.message : document
    end
  end
end
