# frozen_string_literal: true

module Simpkv
  module Server
    # The entries of the list `rights`, and of that of a token: see {Rights}.
    module RightEntries
      # The methods of requests.
      METHODS = %w[GET POST PUT PATCH DELETE].freeze
      # The members of which an entry has one, with the name of whom it is for.
      NAMES = %w[certname user account group].freeze
      MEMBERS = %w[methods paths environments backends].freeze
      # In place of a name, for entries of a token.
      TOKEN = 'token'
      # Names in a list of environments that stand for the global keys.
      GLOBAL = 'globals'

      # - `kind` and `name`: whom it is for
      # - `verbs`: methods; `paths`: of {Path}
      # - `environments`, `backends`: names; nil for all
      Right = Struct.new(:kind, :name, :verbs, :paths, :environments, :backends) do
        # @param other [Right]
        # @return [Right] what both allow, for whom this one is
        def with(other)
          Right.new(kind, name, verbs & other.verbs, paths.product(other.paths).filter_map { |one, two| one.with(two) },
                    common(environments, other.environments), common(backends, other.backends))
        end

        # @return [Boolean] whether it allows nothing
        def empty?
          [verbs, paths, environments, backends].any? { |list| list&.empty? }
        end

        # @return [Hash{String => Array<String>}] as it is written, without the name
        def plain
          { 'methods' => verbs, 'paths' => paths.map(&:to_s), 'environments' => environments,
            'backends' => backends }.compact
        end

        private

        def common(list, other)
          list && other ? list & other : list || other
        end
      end

      # A path as it is written, and whether it stands for all paths below, too.
      Path = Struct.new(:text, :below) do
        def initialize(text)
          super(text.delete_suffix('/**'), text.end_with?('/**'))
          @pattern = /\A#{glob(self.text)}#{'(?:/.*)?' if below}\z/m
          @names = self.text.split('/', -1)
          @patterns = @names.map { |part| /\A#{glob(part)}\z/m }
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

        # @param other [Path]
        # @return [Path, Both, nil] what both cover; nil if that is nothing
        def with(other)
          return self if other.include?(self)
          return other if include?(other)

          Both.new(self, other) unless apart?(other) || other.apart?(self)
        end

        # @param other [Path]
        # @return [Boolean] whether it covers all that the other one covers; false if nobody can say
        def include?(other)
          return false unless fit_below?(other)

          names.zip(patterns, other.names).all? do |own, pattern, name|
            own == name || own == '*' || (literal?(name) && pattern.match?(name))
          end
        end

        # @param other [Path]
        # @return [Boolean] whether nothing is covered by both; false if nobody can say
        def apart?(other)
          return true if !below && other.names.length > names.length

          patterns.zip(other.names).any? { |pattern, name| name && literal?(name) && !pattern.match?(name) }
        end

        # @param template [Array<String>] the segments of a path of openapi.yaml, of which `{path}` stands for several
        # @return [Boolean] whether it covers a path of that form
        def fit?(template)
          fit_length?(template) &&
            @parts.zip(template).all? { |part, name| name.nil? || name.start_with?('{') || part.match?(name) }
        end

        def to_s
          below ? "#{text}/**" : text
        end

        protected

        # The segments as they are written, with the empty one before the first slash; and what each one matches.
        attr_reader :names, :patterns

        private

        def fit_below?(other)
          return other.names.length >= names.length if below

          !other.below && other.names.length == names.length
        end

        def literal?(name)
          !name.include?('*')
        end

        def fit_length?(template)
          case @parts.length <=> template.length
          when 0 then true
          when 1 then template.last == '{path}'
          else below
          end
        end

        # Each word but the last one may stand at the first place that fits, so that no path makes it backtrack.
        def glob(text)
          first, *words, last = text.split('*', -1).map { |word| Regexp.escape(word) }
          return first.to_s unless last

          "#{first}#{words.map { |word| "(?>[^/]*?#{word})" }.join}[^/]*#{last}"
        end
      end

      # What both of two paths cover.
      Both = Struct.new(:own, :other) do
        def text
          own.text
        end

        def below
          own.below && other.below
        end

        def cover?(path, with_all_below)
          own.cover?(path, with_all_below) && other.cover?(path, with_all_below)
        end

        def reach?(folder)
          own.reach?(folder) && other.reach?(folder)
        end

        def fit?(template)
          own.fit?(template) && other.fit?(template)
        end

        def to_s
          "#{own} and #{other}"
        end
      end
      # A path that no request has: see {Gate}.
      NO_REQUEST = %r{/(?:\.{0,2}/|\.{1,2}\z)}.freeze
      private_constant :NO_REQUEST, :NAMES, :MEMBERS, :TOKEN, :Path, :Both

      class << self
        # @param list [Array<Hash>] of the section `server`
        # @return [Array<Right>]
        # @raise [ConfigError] an entry is wrong; the message has its number
        def read(list)
          list.each_with_index.map { |entry, number| right(entry, NAMES, "'rights[#{number}]' of 'server'") }
        end

        # @param list [Array<Hash>] of a token: entries without a name
        # @return [Array<Right>]
        # @raise [ConfigError] an entry is wrong; the message has its number
        def of_token(list)
          raise ConfigError, 'a token needs a list of rights' unless list.is_a?(Array) && list.any?

          list.each_with_index.map do |entry, number|
            entry = { TOKEN => TOKEN }.merge(entry) if entry.is_a?(Hash)
            right(entry, [TOKEN], "the right #{number + 1} of a token")
          end
        end

        private

        def right(entry, names, where)
          raise ConfigError, "#{where} must be a Hash" unless entry.is_a?(Hash)

          known = [*names, *MEMBERS]
          unknown = (entry.keys - known).first
          raise ConfigError, "#{where} has the unknown member '#{unknown}': it has #{known.join(', ')}" if unknown

          given = entry.slice(*names).compact
          raise ConfigError, "#{where} needs either '#{names.join("' or '")}'" unless given.one?

          kind, name = given.first
          Right.new(kind.to_sym, text(name, "'#{kind}' of #{where}"), verbs(entry['methods'], where),
                    paths(entry['paths'], where),
                    list_of(entry, 'environments', "; #{GLOBAL} stands for the global keys", where),
                    list_of(entry, 'backends', '', where))
        end

        def text(value, what)
          return value if value.is_a?(String) && !value.empty?

          raise ConfigError, "#{what} must be a String that is not empty"
        end

        def verbs(list, where)
          return list if list.is_a?(Array) && list.any? && (list - METHODS).empty?

          raise ConfigError, "'methods' of #{where} must be a list of #{METHODS.join(', ')}"
        end

        def paths(list, where)
          valid = list.is_a?(Array) && list.any? && list.all? { |path| path.is_a?(String) && path.start_with?('/') }
          return list.map { |path| path(path, where) } if valid

          raise ConfigError, "'paths' of #{where} must be a list of paths, such as /v1/nodes/**"
        end

        def path(text, where)
          return Path.new(text) unless text.match?(NO_REQUEST)

          raise ConfigError, "'paths' of #{where}: no request has a segment that is empty, '.' or '..'"
        end

        # @return [Array<String>, nil] nil if the entry does not limit them
        def list_of(entry, member, more, where)
          return unless entry.key?(member)

          list = entry[member]
          return list if list.is_a?(Array) && list.all?(String)

          raise ConfigError, "'#{member}' of #{where} must be a list of names#{more}"
        end
      end
    end
  end
end
