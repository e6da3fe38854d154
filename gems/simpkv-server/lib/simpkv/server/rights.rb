# frozen_string_literal: true

module Simpkv
  module Server
    # Who may send which request. The section `server` of the configuration has a list, and what is not in it is denied:
    #
    #     rights:
    #       - {certname: provisioner.example.com, methods: [GET, POST], paths: ['/v1/inspection_rules/**']}
    #       - {user: prometheus, methods: [GET], paths: ['/metrics']}
    #
    # A path is that of a request after `%` escapes are decoded. In it, `*` stands for any part of a segment, and `/**`
    # at the end for the path itself and everything below it. Root and the user of the service may do everything over a
    # Unix socket. Over a loopback port without TLS, everybody may read what is no value of a key and no access right.
    # For a query, the method GET stands for POST, too.
    class Rights
      # The methods of requests.
      METHODS = %w[GET POST PUT PATCH DELETE].freeze
      MEMBERS = %w[certname user methods paths environments backends].freeze
      # The methods that read.
      READS = %w[GET HEAD].freeze
      # A POST to these paths is a query, which reads, too.
      QUERIES = %r{\A/pdb/query/}.freeze
      # Local processes need `local_write` for these paths, which tell who has which rights, and where passwords are. A
      # plan can bind as users.
      NEED_WRITE = %r{\A/v1/access(?:/|\z)}.freeze
      # Names in a list of environments that stand for the global keys.
      GLOBAL = 'globals'

      Right = Struct.new(:kind, :name, :verbs, :paths, :environments, :backends)
      # A path as it is written, and whether it stands for all paths below, too.
      Path = Struct.new(:text, :below) do
        def initialize(text)
          super(text.delete_suffix('/**'), text.end_with?('/**'))
          @pattern = /\A#{glob(self.text)}#{'(?:/.*)?' if below}\z/m
          @parts = self.text.split('/').map { |part| /\A#{glob(part)}\z/m }
        end

        def cover?(path, with_all_below)
          @pattern.match?(path) && (below || !with_all_below)
        end

        # @return [Boolean] whether it covers a path below the folder
        def reach?(folder)
          names = folder.split('/')
          return false unless below || @parts.length > names.length

          @parts.zip(names).all? { |part, name| name.nil? || part.match?(name) }
        end

        private

        # Each word but the last one may stand at the first place that fits, so that no path makes it backtrack.
        def glob(text)
          first, *words, last = text.split('*', -1).map { |word| Regexp.escape(word) }
          return first.to_s unless last

          "#{first}#{words.map { |word| "(?>[^/]*?#{word})" }.join}[^/]*#{last}"
        end
      end
      private_constant :MEMBERS, :READS, :QUERIES, :NEED_WRITE, :Right, :Path

      # @param caller [Caller]
      # @return [String] what would allow a request that is refused, for a message
      def self.lacking(caller)
        return "over a loopback port, only '--local-write' of simpkv serve allows it" if caller.kind == :local

        "'rights' of 'server' does not allow it"
      end

      # @param caller [Caller]
      # @param method [String]
      # @param what [String] such as a path
      # @return [String] the message of a refused request
      def self.refusal(caller, method, what)
        "#{caller} may not #{method} #{what}: #{lacking(caller)}"
      end

      # @param list [Array<Hash>] see above
      # @param local_write [Boolean] whether every local process may do everything over a loopback port
      # @raise [ConfigError] an entry is wrong; the message has its number
      def initialize(list, local_write: false)
        @local_write = local_write
        @rights = list.each_with_index.map { |entry, number| right(entry, "'rights[#{number}]' of 'server'") }
      end

      # @param caller [Caller]
      # @param method [String] of the request
      # @param path [String] of the request, decoded
      # @return [Boolean]
      def allow?(caller, method, path)
        return true if caller.owner?

        method = 'GET' if method == 'POST' && path.match?(QUERIES)
        return local?(method, path) if caller.kind == :local

        of(caller, method, path).any?
      end

      # @param caller [Caller]
      # @param request [Rack::Request]
      # @param environment [String, nil] of the keys; nil for the global keys
      # @param backend [String] the name of their backend
      # @param below [Boolean] whether the request is about the keys below its path, too
      # @param method [String] of the request, or of another one for the same path
      # @return [Boolean] whether a caller who {#allow?} allows a request for keys may send it for these keys
      def keys?(caller, request, environment, backend, below: false, method: request.request_method)
        return true if caller.owner? || caller.kind == :local

        limited(of(caller, method, request.path, below: below), environment, backend).any?
      end

      # @param caller [Caller]
      # @param request [Rack::Request] that reads a key or a folder
      # @param path [Api::KeyPath] of it
      # @param backend [String] as for {#keys?}
      # @return [Array<String>] the methods by which the caller may change the key, or all keys of the folder
      def changes(caller, request, path, backend)
        (path.folder? ? %w[DELETE] : %w[PUT DELETE]).select do |method|
          allow?(caller, method, request.path) &&
            keys?(caller, request, path.environment, backend, below: path.folder?, method: method)
        end
      end

      # @param caller [Caller]
      # @param name [String] of a key
      # @param environment [String, nil] as for {#keys?}
      # @param backend [String] as for {#keys?}
      # @return [Boolean] whether the caller may know that the key exists
      def key?(caller, name, environment, backend)
        return true if caller.owner? || caller.kind == :local

        limited(of(caller, 'GET', "/v1/keys/#{name}"), environment, backend).any?
      end

      # @param caller [Caller]
      # @param method [String]
      # @param folder [String] the path of a folder of keys
      # @param environment [String, nil] as for {#keys?}
      # @param backend [String, nil] the name of their backend; nil for any
      # @return [Boolean] whether the caller may send such a request for a key below the folder, if there is one of a
      #   suitable name
      def below?(caller, method, folder, environment, backend)
        return true if caller.owner?
        return local?(method, folder) if caller.kind == :local

        limited(rights_of(caller, method) { |path| path.reach?(folder) }, environment, backend).any?
      end

      # @param caller [Caller]
      # @return [Array<Array>] for each path of keys that the caller may read: the path, whether all below it is meant,
      #   the environments and the backends; nil for all
      def key_paths(caller)
        rights_of(caller, 'GET').flat_map do |right|
          paths = right.paths.select { |path| path.text.match?(%r{\A/v1/keys(?:/|\z)}) }
          paths.map { |path| [path.text, path.below, right.environments, right.backends] }
        end
      end

      # @param caller [Caller]
      # @return [Boolean] whether the caller may see what `simpkv doctor` finds, which names keys, files and entries: a
      #   caller who may read all keys with their values
      def findings?(caller)
        return true if caller.owner?
        return @local_write if caller.kind == :local

        of(caller, 'GET', '/v1/keys', below: true).any? { |right| right.environments.nil? && right.backends.nil? }
      end

      # @param caller [Caller]
      # @param request [Rack::Request]
      # @param name [String] of a backend
      # @return [Boolean] whether a caller who {#allow?} allows a request may know of the backend by it
      def backend?(caller, request, name)
        return true if caller.owner? || caller.kind == :local

        of(caller, request.request_method, request.path).any? { |right| in?(right.backends, name) }
      end

      # @param caller [Caller]
      # @return [Boolean] whether the caller may see values of keys at all
      def values?(caller)
        caller.kind != :local || @local_write
      end

      private

      # @return [Boolean] whether every local process may send a request over a loopback port
      def local?(method, path)
        @local_write || (READS.include?(method) && !path.match?(NEED_WRITE))
      end

      def of(caller, method, path, below: false)
        method = 'GET' if method == 'HEAD'
        rights_of(caller, method) { |each| each.cover?(path, below) }
      end

      # @yieldreturn [Boolean] whether a path of a right is wanted; without a block, all are
      def rights_of(caller, method, &wanted)
        @rights.select do |right|
          right.kind == caller.kind && right.name == caller.name && right.verbs.include?(method) &&
            (wanted.nil? || right.paths.any?(&wanted))
        end
      end

      # @param environment [String, nil] as for {#keys?}. No list names an environment that is called {GLOBAL}
      # @param backend [String, nil] as for {#below?}
      # @return [Array<Right>] those that are not limited to other names
      def limited(rights, environment, backend)
        environment = environment == GLOBAL ? nil : environment || GLOBAL
        rights.select do |right|
          in?(right.environments, environment) && (backend.nil? || in?(right.backends, backend))
        end
      end

      # @param list [Array<String>, nil] nil for one that has all names
      def in?(list, name)
        list.nil? || list.include?(name)
      end

      def right(entry, where)
        raise ConfigError, "#{where} must be a Hash" unless entry.is_a?(Hash)

        unknown = (entry.keys - MEMBERS).first
        raise ConfigError, "#{where} has the unknown member '#{unknown}': it has #{MEMBERS.join(', ')}" if unknown

        names = entry.slice('certname', 'user').compact
        raise ConfigError, "#{where} needs either 'certname' or 'user'" unless names.one?

        kind, name = names.first
        Right.new(kind.to_sym, text(name, "'#{kind}' of #{where}"), methods(entry['methods'], where),
                  paths(entry['paths'], where),
                  names(entry, 'environments', "; #{GLOBAL} stands for the global keys", where),
                  names(entry, 'backends', '', where))
      end

      def text(value, what)
        return value if value.is_a?(String) && !value.empty?

        raise ConfigError, "#{what} must be a String that is not empty"
      end

      def methods(list, where)
        return list if list.is_a?(Array) && list.any? && (list - METHODS).empty?

        raise ConfigError, "'methods' of #{where} must be a list of #{METHODS.join(', ')}"
      end

      def paths(list, where)
        valid = list.is_a?(Array) && list.any? && list.all? { |path| path.is_a?(String) && path.start_with?('/') }
        return list.map { |path| Path.new(path) } if valid

        raise ConfigError, "'paths' of #{where} must be a list of paths, such as /v1/nodes/**"
      end

      # @return [Array<String>, nil] nil if the entry does not limit them
      def names(entry, member, more, where)
        return unless entry.key?(member)

        list = entry[member]
        return list if list.is_a?(Array) && list.all?(String)

        raise ConfigError, "'#{member}' of #{where} must be a list of names#{more}"
      end
    end
  end
end
