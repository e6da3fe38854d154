# frozen_string_literal: true

require 'digest'
require 'securerandom'

module Simpkv
  class Secrets
    # A secret in a document. The document is an ordinary one: its value is the secret, and its metadata have an object
    # {NAME}, a Sensitive, with
    #
    #     kind      such as password
    #     made_at   the time at which it was made, and made: the options
    #     parts     what belongs to it, by name: the public key, the certificate
    #     forms     the forms that were made of it, by name
    #     revoked   of a CA: serial numbers and times; list, listed_at: number and time of the part crl
    #     seed      from which the salts of forms are made, so that two processes make the same form
    #     of        the digest of the value: an object that is left over from another value does not count
    class Entry
      NAME = 'simpkv::secret'
      SEED_BYTES = 32

      # The days after which those who verify certificates want another revocation list.
      LIST_DAYS = 30
      private_constant :SEED_BYTES, :LIST_DAYS

      class << self
        # Makes a secret.
        #
        # @param making [Hash{String => Object}] for {Native.secret_make}
        # @param options [Hash{String => Object}] those of the caller: see {Request#of_making}
        # @return [String] its document
        # @raise [ConfigError] an option is wrong
        # @raise [UnavailableError] there are no random numbers
        def make(making, options = making)
          made = Native.parse(checked { Native.secret_make(Native.generate(making)) })
          value = made['value']
          value = value.unpack1('m') if made['encoding'] == 'base64'
          document(value, 'kind' => making['kind'], 'made' => options, 'parts' => made['parts'] || {},
                          'made_at' => Versions.text(Versions.now))
        end

        # @param value [String]
        # @param about [Hash{String => Object}] the object of the metadata, without seed and digest
        # @return [String] the document of a secret that exists already
        def document(value, about)
          about = { 'seed' => seed, 'of' => digest(value), 'forms' => {} }.merge(about)
          RichData.sensitive(value, { NAME => RichData.object('Sensitive', about) }, typed: true)
        end

        # @param private_key [String] in PEM
        # @param certificate [String] in PEM
        # @param chain [String] those above it
        # @return [String] the document of a certificate of other origin
        # @raise [ConfigError] it is no certificate, or the private key is not that of the certificate
        def of_certificate(private_key, certificate, chain)
          facts = Native.parse(checked { Native.secret_certificate(certificate, private_key) })
          parts = facts.slice('serial', 'fingerprint', 'not_before', 'not_after')
                       .merge('certificate' => certificate, 'chain' => chain)
          document = document(private_key, 'kind' => 'x509', 'ca' => facts['ca'], 'parts' => parts)
          facts['ca'] ? Entry.new(document).relisted : document
        end

        # @return [String]
        def seed
          SecureRandom.hex(SEED_BYTES)
        end

        # @param value [String]
        # @return [String]
        def digest(value)
          Digest::SHA256.hexdigest(value)
        end

        # Runs a call of the core, which refuses wrong options of the caller.
        #
        # @return [Object] what the block returns
        # @raise [ConfigError]
        def checked
          yield
        rescue InvalidError, UnencodableError => e
          raise ConfigError, e.message, cause: nil
        end
      end

      # @return [String] as it is stored
      attr_reader :document

      # @return [String] the secret: text, or bytes
      attr_reader :value

      # @param document [String]
      # @raise [MalformedError] it cannot be read
      # @raise [InvalidError] its value is not one secret
      def initialize(document)
        @document = document
        decoded = RichData.read(document)
        @value = text_of(decoded[:value])
        about = decoded[:metadata][NAME]
        @about = own?(about) ? about : {}
      end

      # @return [String, nil] nil if something else has stored the secret
      def kind
        @about['kind']
      end

      # @param wanted [String, nil] a kind
      # @return [void]
      # @raise [InvalidError] the secret has another one
      def check_kind(wanted)
        return if wanted.nil? || wanted == (kind || 'password')

        has = kind ? "it is a secret of the kind '#{kind}'" : 'something else than simpkv::secret has stored it'
        raise InvalidError, "#{has}, not '#{wanted}': choose another key, or leave out 'kind'"
      end

      # @return [String, nil] the time at which it was made; nil for a secret of other origin
      def made_at
        @about['made_at']
      end

      # @return [Hash{String => Object}] the options with which it was made: see {Request#of_making}
      # @raise [InvalidError] something else has made it
      def made
        @about['made'] || raise(InvalidError, 'simpkv::secret has not made it, so that nobody knows how to make ' \
                                              'another one: simpkv put stores one')
      end

      # @return [Hash{String => String}]
      def parts
        @about['parts'] || {}
      end

      # @return [Hash{String => String}] by format
      def forms
        @about['forms'] || {}
      end

      # @return [Hash{Symbol => Numeric, nil}] how long the secret lasts, and how many earlier values its key has, for
      #   {VersionedStore#or_else}
      def kept
        stored_at, expires = Codec.members(@document).values_at('stored_at', 'expires')
        lasts = Versions.utc(expires) - Versions.utc(stored_at) if stored_at && expires
        count = Versions.count(@document)
        { expires_after: lasts, history: (count if count.positive?) }
      end

      # @param request [Request]
      # @return [String, nil] what the request names; nil for a form or a revocation list that nobody has made
      # @raise [InvalidError] the secret has another kind, or no such part
      # @raise [ConfigError] an option of a format without a salt is wrong
      def text_for(request)
        check_kind(request.kind)
        return parts[Request::LIST] if request.list? && authority?
        return part(request.part) unless request.form

        forms[request.form] || (form(request) if request.saltless?)
      end

      # Makes a form of the secret, whose salt comes from the seed of the document, if that has one; or the revocation
      # list.
      #
      # @param request [Request]
      # @return [String] the document that has it
      # @raise [ConfigError] the format is unknown, or cannot hold this secret; an option is wrong
      def completed(request)
        return relisted if request.list?

        seed = @about['seed'] || Entry.seed
        form = form(request, 'seed' => seed)
        with('seed' => seed, 'of' => Entry.digest(@value), 'forms' => forms.merge(request.form => form))
      end

      # @param request [Request]
      # @return [Boolean] whether a certificate is in the last third of its life, or a new revocation list is due. A CA
      #   is never due: those who trust it would not know another one
      def due?(request)
        return authority? && listed_before?(LIST_DAYS / 3) if request.list?
        return false if authority? || !parts.key?('not_after') || !@about.key?('made')

        from, to = parts.values_at('not_before', 'not_after').map { |text| Versions.utc(text) }
        Versions.now > to - ((to - from) / 3)
      end

      # @param request [Request]
      # @return [Boolean] whether the certificate, or the revocation list, is not valid any more
      def ended?(request)
        request.list? ? listed_before?(LIST_DAYS) : Versions.now >= Versions.utc(parts.fetch('not_after'))
      end

      # @return [Hash{String => String}, nil] what signs certificates, for the core; nil for another kind
      def authority
        certificate = parts['certificate']
        certificate && { 'certificate' => certificate + parts['chain'].to_s, 'private' => @value }
      end

      # @param entry [Entry] of a certificate
      # @return [Boolean] whether this CA, as it is now, has signed it
      def signed?(entry)
        entry.parts['chain'].to_s.delete("\r\n").start_with?(parts['certificate'].to_s.delete("\r\n"))
      end

      # @param serial [String] of a certificate that it has signed
      # @return [String, nil] the document with the number on its revocation list; nil if it is on the list already
      def revoking(serial)
        raise InvalidError, 'it is no CA' unless authority?

        revoked = @about['revoked'].to_a
        return if revoked.any? { |each| each['serial'] == serial }

        listing(revoked + [{ 'serial' => serial, 'at' => Versions.text(Versions.now) }])
      end

      # @return [String] the document with a new revocation list of the same certificates
      def relisted
        listing(@about['revoked'].to_a)
      end

      private

      def authority?
        (@about['ca'] || @about.dig('made', 'ca')) == true
      end

      # @return [Boolean] whether this object of metadata is one of {Entry}, and belongs to the value
      def own?(about)
        return false unless about.is_a?(Hash) && about['of'] == Entry.digest(@value)

        texts = about.values_at('kind', 'seed', 'made_at').compact
        hashes = about.values_at('parts', 'forms').compact
        hashes.all?(Hash) && (texts + hashes.flat_map(&:values)).all?(String) &&
          [Hash, NilClass].include?(about['made'].class)
      end

      # A Hash with a password is what simplib::passgen stores.
      def text_of(value)
        value = value['password'] if value.is_a?(Hash)
        return value if value.is_a?(String) && !value.empty?

        raise InvalidError, 'its value is no secret: simpkv::secret reads texts and bytes that are not empty, and ' \
                            'simpkv::get other values'
      end

      def form(request, more = {})
        Entry.checked { Native.secret_form(@value, Native.generate(request.of_form.merge(more))) }.first
      end

      def part(name)
        return @value unless name

        parts.fetch(name) do
          known = ['private', *parts.keys].map { |each| "'#{each}'" }.join(', ')
          raise InvalidError, "the secret has no part '#{name}': it has #{known}"
        end
      end

      def listed_before?(days)
        listed = @about['listed_at']
        listed.nil? || Versions.now >= Versions.utc(listed) + (days * 86_400)
      end

      # The list is for those who verify certificates, who want another one before LIST_DAYS have passed.
      def listing(revoked)
        number = @about['list'].to_i + 1
        asked = Native.generate('issuer' => authority, 'revoked' => revoked, 'number' => number, 'days' => LIST_DAYS)
        list = Entry.checked { Native.secret_crl(asked) }
        with('revoked' => revoked, 'list' => number, 'listed_at' => Versions.text(Versions.now),
             'parts' => parts.merge(Request::LIST => list))
      end

      # @return [String] the document with these members of the object, and all else as it is
      def with(members)
        stored = Codec.members(@document)
        value, metadata = rich(stored)
        metadata = metadata.merge(NAME => RichData.object('Sensitive', @about.merge(members)))
        whole = { 'value' => value, 'encoding' => RichData::ENCODING, 'metadata' => metadata }
        Native.generate(whole.merge(stored.reject { |name, _| Versions::MEMBERS.include?(name) }))
      end

      # @return [Array(Object, Hash)] value and metadata as rich data
      def rich(stored)
        value, encoding, metadata = stored.values_at('value', 'encoding', 'metadata')
        metadata ||= {}
        return [value, metadata] if encoding == RichData::ENCODING
        raise InvalidError, "it has a Hash with a key '#{RichData::TYPE}'" if RichData.any?([value, metadata])

        [encoding ? RichData.binary(@value) : value, metadata]
      end
    end
  end
end
