# frozen_string_literal: true

require 'digest/sha2'
require 'openssl'
require 'securerandom'
require 'simpkv/server/right_entries'
require 'time'

module Simpkv
  module Server
    # The tokens of programs, in a store beside that of all keys: no manifest, no request for keys and no role of
    # `simpkv access` reaches it. A document has a digest of the token, and never the token itself. It is read for each
    # request, so that a token that was revoked is refused at once. Thread-safe.
    class Tokens
      # By the type of the backend: the end of the instance's ID, and the folder. In a directory, tokens have an
      # instance of their own, where no role for keys applies. In files, their folder is beside those of the keys.
      PLACES = { 'ldap' => ['.service', 'globals/tokens'], 'file' => ['', 'service/tokens'] }.freeze
      # Each token begins so, so that it is recognised in files and logs.
      BEGINNING = 'simpkv_'
      FORM = /\A#{BEGINNING}([0-9a-f]{16})_([A-Za-z0-9_-]{43})\z/.freeze
      # The bytes of an ID and of a secret.
      ID = 8
      SECRET = 32
      # Seconds between two notes of the last use of a token.
      NOTED = 300
      MAKERS = %i[user certname account].freeze
      private_constant :PLACES, :FORM, :ID, :SECRET, :NOTED, :MAKERS

      # - `id`: which lists show
      # - `digest`: of the secret
      # - `rights`: entries as those of `rights`, without a name
      # - `maker`: kind and name of whom its rights depend on
      # - `created`, `expires`, `used`: times; `used` is nil before the first use
      # - `note`: what it is for
      # - `own`: these entries as {RightEntries::Right}
      # - `certificate`: in PEM, that of a maker who is known by one
      # - `present`: the maker as it is now, a {Caller}; nil if there is none any more
      Token = Struct.new(:id, :digest, :rights, :maker, :created, :expires, :used, :note, :own, :certificate,
                         :present) do
        # @param maker [Caller, nil]
        # @return [Token] with it
        def with(maker)
          dup.tap { |token| token.present = maker }
        end

        # @return [Hash{String => Object}] for lists: without the digest
        def plain
          kind, name = maker
          { 'id' => id, 'rights' => rights, 'maker' => "#{kind}:#{name}", 'created' => created.iso8601,
            'expires' => expires.iso8601, 'used' => used&.iso8601, 'note' => note }
        end
      end

      # In place of a token that does not exist: no digest is this one.
      NONE = Token.new(nil, '-' * 64).freeze
      private_constant :NONE

      # @param name [String, nil] of a backend: the option `tokens` of the section `server`
      # @param site [Site]
      # @param owner [Caller] the service itself
      # @return [Tokens, nil] nil without a name
      # @raise [ConfigError] there is no such backend
      def self.of(name, site, owner)
        return unless name

        settings = site.backend(name).settings
        options = Config.copy(site.options)
        options['backends'][name].update(overriding(settings))
        backend = Backend.of_globals(options, name, site.vardirs, site.warn, node: owner.to_s)
        new(settings) { site.kept([:tokens]) { backend.open_existing }.tap { backend.check } }
      end

      # @param settings [Hash{String => Object}] of a backend
      # @return [Hash{String => String}] the options of the backend in which its tokens are
      def self.overriding(settings)
        { 'id' => "#{settings['id']}#{PLACES.fetch(settings['type']).first}" }
      end

      # @param settings [Hash{String => Object}] of a backend
      # @yieldreturn [Store] of the backend with {overriding}
      def initialize(settings, &store)
        @folder = PLACES.fetch(settings['type']).last
        @store = store
        @mutex = Mutex.new
        @latest = Time.at(0)
      end

      # Makes a token.
      #
      # @param rights [Array<Hash>] entries as those of `rights`, without a name
      # @param maker [Array(Symbol, String)] kind and name
      # @param expires [Time]
      # @param more [Hash{Symbol => String}] `note`; `certificate`, in PEM: a certname alone does not tell whether its
      #   certificate was revoked
      # @return [Array(String, Token)] the token itself, which is stored nowhere
      # @raise [ConfigError] the rights are wrong; the certificate is missing
      # @raise [Error] of the store
      def create(rights, maker:, expires:, **more)
        own = RightEntries.of_token(rights)
        note, certificate = more.values_at(:note, :certificate)
        raise ConfigError, 'a token of a certname needs its certificate' if maker.first == :certname && !certificate

        id = SecureRandom.hex(ID)
        secret = SecureRandom.urlsafe_base64(SECRET)
        token = Token.new(id, digest(secret), rights, maker, Time.now.utc, expires.utc, nil, note, own, certificate)
        store.put(path(id), document(token), condition: :absent)
        ["#{BEGINNING}#{id}_#{secret}", token]
      end

      # @param text [String] of a header
      # @param use [Boolean] whether to note the use
      # @return [Token, nil] nil if it is malformed, unknown, revoked or expired
      # @raise [Error] of the store
      def find(text, use: true)
        id, secret = text.match(FORM)&.captures
        stored = id && read(id)
        token = stored ? token(id, stored) : NONE
        same = OpenSSL.fixed_length_secure_compare(digest(secret.to_s), token.digest)
        return unless same && now < token.expires

        use(token, stored) if use
        token
      end

      # @return [Array<Token>] all of them, the newest last
      # @raise [Error] of the store, or one cannot be read
      def all
        listed = store.list(@folder, required: false) { |_, document| document }
        return [] unless listed

        raise MalformedError, "'#{@folder}' has what is no token" if listed[:errors].any? || listed[:folders].any?

        listed[:keys].map { |id, document| token(id, document) }.sort_by(&:created)
      end

      # @param id [String]
      # @return [Boolean] whether it existed
      # @raise [Error] of the store
      def revoke(id)
        id.match?(/\A[0-9a-f]{16}\z/) && store.delete(path(id))
      end

      private

      def store
        @store.call
      end

      def path(id)
        "#{@folder}/#{id}"
      end

      def digest(secret)
        Digest::SHA256.hexdigest(secret)
      end

      def read(id)
        store.get(path(id), latest: true, required: false)
      end

      # @return [Time] never before one that was returned: a token does not come back to life when the time is set back
      def now
        @mutex.synchronize { @latest = [@latest, Time.now].max }
      end

      def document(token)
        times = { 'created' => token.created, 'expires' => token.expires, 'used' => token.used }
        members = { 'digest' => token.digest, 'rights' => token.rights, 'maker' => token.maker.map(&:to_s),
                    'note' => token.note, 'certificate' => token.certificate }
        Codec.encode(members.merge(times.transform_values { |time| time&.iso8601 }).compact)
      end

      # @raise [MalformedError]
      # @raise [DeniedError] it is encrypted, and this process has no keys
      def token(id, document)
        raise DeniedError.unreadable(path(id), Codec::ENCRYPTED) if Codec.encrypted?(document)

        built(id, Codec.decode(document)[:value]) || malformed(id)
      rescue KeyError, NoMethodError, TypeError, ArgumentError, MalformedError
        malformed(id)
      end

      # @return [Token, nil] nil if a member is none that {#create} makes
      def built(id, value)
        times = value.values_at('created', 'expires', 'used').map { |text| text && Time.iso8601(text) }
        kind, name = value.fetch('maker')
        digest, rights = value.fetch_values('digest', 'rights')
        return unless MAKERS.include?(kind.to_sym) && digest.match?(/\A\h{64}\z/) && times.first(2).all?

        Token.new(id, digest, rights, [kind.to_sym, name], *times, value['note'], RightEntries.of_token(rights),
                  value['certificate'])
      end

      def malformed(id)
        why = "it is no token that simpkv has made: 'simpkv token revoke #{id}' deletes it"
        raise MalformedError.unreadable(path(id), why), cause: nil
      end

      # Notes the use now and then. A token that is revoked at the same moment stays revoked.
      def use(token, stored)
        time = Time.now.utc
        return if token.used && time - token.used < NOTED

        noted = token.dup.tap { |each| each.used = time }
        store.put(path(token.id), document(noted), condition: :expect, expect: stored)
      rescue ConditionError, NotFoundError
        nil
      end
    end
  end
end
