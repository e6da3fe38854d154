# frozen_string_literal: true

require 'simpkv/server/right_entries'

module Simpkv
  module Server
    # Who may send which request. The section `server` of the configuration has a list, and what is not in it is denied:
    #
    #     rights:
    #       - {certname: provisioner.example.com, methods: [GET, POST], paths: ['/v1/inspection_rules/**']}
    #       - {user: prometheus, methods: [GET], paths: ['/metrics']}
    #       - {group: operators, methods: [GET], paths: ['/**']}
    #
    # `certname` is the common name of a client certificate, `user` a local user on a Unix socket, `account` and `group`
    # those of a directory, with which a person has signed in. A token has the rights that are in its own list and that
    # its maker has, too.
    # A path is that of a request after `%` escapes are decoded. In it, `*` stands for any part of a segment, and `/**`
    # at the end for the path itself and everything below it. Root and the user of the service may do everything over a
    # Unix socket. Over a loopback port without TLS, everybody may read what is no value of a key, no access right, and
    # no log of a report.
    # For a query, the method GET stands for POST, too.
    class Rights
      # The methods that read.
      READS = %w[GET HEAD].freeze
      # A POST to these paths is a query, which reads, too.
      QUERIES = %r{\A/pdb/query/}.freeze
      # A request with several operations. Each of them needs the right to its own method and path.
      BATCH = %w[POST /v1/keys:batch].freeze
      # Local processes need `local_write` for these paths, which tell who has which rights, and where passwords are. A
      # plan can bind as users.
      NEED_WRITE = %r{\A/v1/access(?:/|\z)}.freeze
      # The path of details of reports, and what is below it. Local processes need `local_write`, or the option
      # `local_report_details` of `server`.
      REPORT_DETAILS = '/v1/report_details'
      DETAILS = %r{\A#{REPORT_DETAILS}(?:/|\z)}.freeze
      # What everybody may read who is known: names of keys that the caller may read, and who it is.
      FOR_ALL = %w[/v1/key_names /v1/whoami].freeze
      # The path of keys, in all entries for keys.
      KEYS = '/v1/keys'
      METHODS = RightEntries::METHODS
      GLOBAL = RightEntries::GLOBAL
      private_constant :READS, :QUERIES, :NEED_WRITE, :REPORT_DETAILS, :DETAILS, :FOR_ALL, :BATCH, :KEYS

      # @param caller [Caller]
      # @return [String] what would allow a request that is refused, for a message
      def self.lacking(caller)
        return "over a loopback port, only '--local-write' of simpkv serve allows it" if caller.kind == :local

        return 'its own rights, or those of its maker, do not allow it' if caller.kind == :token

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
      # @param local_details [Boolean] whether every local process may read details of reports over a loopback port
      # @raise [ConfigError] an entry is wrong; the message has its number
      def initialize(list, local_write: false, local_details: false)
        @local_write = local_write
        @local_details = local_details
        @rights = RightEntries.read(list)
      end

      # @param caller [Caller]
      # @param method [String] of the request
      # @param path [String] of the request, decoded
      # @return [Boolean]
      def allow?(caller, method, path)
        return true if caller.owner? || for_all?(caller, method, path)

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
      # @param paths [Hash{String => Array<String>}] the paths of openapi.yaml, and their methods
      # @return [Hash{String => Array<String>}] by path, the methods that the caller may use for at least one such path
      def methods_by_path(caller, paths)
        found = paths.to_h { |path, methods| [path, methods.select { |method| somewhere?(caller, method, path) }] }
        found.reject { |_, methods| methods.empty? }
      end

      # @param caller [Caller]
      # @return [Array<Hash>] the entries of the configuration for the caller, or of its token
      def entries(caller)
        return [{ 'methods' => METHODS, 'paths' => ['/**'] }] if caller.owner?

        rights_of_any(caller).map(&:plain)
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
      # @return [Boolean] whether the caller may read some key, if there is one of a suitable name
      def reads_keys?(caller)
        caller.owner? || caller.kind == :local || rights_of(caller, 'GET') { |path| path.reach?(KEYS) }.any?
      end

      # @param caller [Caller]
      # @return [Array<Array>] for each path of keys that the caller may read: the path, whether all below it is meant,
      #   the environments and the backends; nil for all
      def key_paths(caller)
        return [[KEYS, true, nil, nil]] if caller.owner? || caller.kind == :local

        rights_of(caller, 'GET').flat_map do |right|
          right.paths.filter_map { |path| of_keys(path) }.map { |path| [*path, right.environments, right.backends] }
        end
      end

      # @param caller [Caller]
      # @return [Boolean] whether the caller may see what `simpkv doctor` finds, which names keys, files and entries: a
      #   caller who may read all keys with their values
      def findings?(caller)
        return true if caller.owner?
        return @local_write if caller.kind == :local

        of(caller, 'GET', KEYS, below: true).any? { |right| right.environments.nil? && right.backends.nil? }
      end

      # @param caller [Caller]
      # @return [Boolean] whether the caller may see logs of reports, and values of events, of all nodes
      def report_details?(caller)
        return true if caller.owner?
        return local?('GET', REPORT_DETAILS) if caller.kind == :local

        of(caller, 'GET', REPORT_DETAILS, below: true).any?
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
        @local_write || (READS.include?(method) && !path.match?(NEED_WRITE) &&
                         (@local_details || !path.match?(DETAILS)))
      end

      def for_all?(caller, method, path)
        caller.kind != :nobody && ([method, path] == BATCH || (FOR_ALL.include?(path) && READS.include?(method)))
      end

      def of(caller, method, path, below: false)
        method = 'GET' if method == 'HEAD'
        rights_of(caller, method) { |each| each.cover?(path, below) }
      end

      # @yieldreturn [Boolean] whether a path of a right is wanted; without a block, all are
      def rights_of(caller, method, &wanted)
        rights_of_any(caller).select do |right|
          right.verbs.include?(method) && (wanted.nil? || right.paths.any?(&wanted))
        end
      end

      # @return [Array<RightEntries::Right>] with any method
      def rights_of_any(caller)
        return of_token(caller.token) if caller.token

        @rights.select { |right| caller.named?(right.kind, right.name) }
      end

      # @return [Array<RightEntries::Right>] what both a right of the token and one of its maker allow
      def of_token(token)
        return [] unless token.present
        return token.own if token.present.owner?

        token.own.product(rights_of_any(token.present)).map { |own, other| own.with(other) }.reject(&:empty?)
      end

      # @param path [RightEntries::Path]
      # @return [Array(String, Boolean), nil] the part of it that is about keys, as for {#key_paths}; nil for none
      def of_keys(path)
        return [path.text, path.below] if path.text.match?(%r{\A#{KEYS}(?:/|\z)})

        [KEYS, true] if path.below && path.cover?(KEYS, true)
      end

      # @return [Boolean] whether the caller may send such a request for at least one path of that form
      def somewhere?(caller, method, path)
        return true if caller.owner? || for_all?(caller, method, path)
        return local?(method, path) if caller.kind == :local

        template = path.split('/')
        rights_of(caller, method) { |each| each.fit?(template) }.any?
      end

      # @param environment [String, nil] as for {#keys?}. No list names an environment that is called {GLOBAL}
      # @param backend [String, nil] as for {#below?}
      # @return [Array<RightEntries::Right>] those that are not limited to other names
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
    end
  end
end
