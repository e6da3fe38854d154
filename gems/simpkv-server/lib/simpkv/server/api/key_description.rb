# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # What a key has beside its value: times, metadata and versions.
      #
      # Metadata can have secrets, too. Those that are Sensitive are hidden, and those whose name says so, and the
      # former passwords of simplib::passgen. Whoever may not see values gets the names of metadata only.
      class KeyDescription
        REDACTED = Estate::Secrets::REDACTED
        # The metadata of a document of simplib::passgen. The second has the former passwords.
        PASSGEN = %w[complexity history].freeze
        private_constant :PASSGEN

        # @param document [String] as the store returns it
        # @param number [Integer] of the version that is described
        # @param secret_names [Estate::SecretNames]
        # @param metadata [Boolean] whether the caller may see metadata
        # @raise [Problem] there is no such version
        # @raise [MalformedError] a version cannot be read
        def initialize(document, number, secret_names, metadata:)
          @document = document
          @number = number
          @secret_names = secret_names
          @metadata = metadata
          @log = Versions.log(document)
          @entry = @log[-number] || raise(KeyBody.no_version(number))
          @decoded = Versions.all(document).map { |version| RichData.decode(version) }
        end

        # @return [Hash{String => Object}]
        def to_h
          decoded = @decoded[-@number]
          traits = traits(decoded)
          { 'versions' => versions, **@entry.slice('stored_at', 'expires'), **traits, **metadata(decoded) }
            .merge({ 'expired' => Versions.expired?(@document) || nil,
                     'puppet_types' => types(decoded, traits) }.compact)
        end

        private

        def versions
          @log.zip(@decoded).map { |entry, decoded| entry.merge(traits(decoded)) }
        end

        # @return [Hash{String => Object}] how a value is stored
        def traits(decoded)
          value = content(decoded)
          binary = RichData.binary?(value) || (decoded.key?(:encoding) && RichData.object?(value, 'Binary'))
          { 'encoding' => ('base64' if binary), 'sensitive' => (true unless value.equal?(decoded[:value])) }.compact
        end

        # @return [Object] the value, without Sensitive around it
        def content(decoded)
          value = decoded[:value]
          value = value[RichData::CONTENT] while decoded.key?(:encoding) && RichData.object?(value, 'Sensitive')
          value
        end

        # @return [Array<String>, nil] the types of Puppet that a PUT of the body of a GET would turn into plain data
        def types(decoded, traits)
          return unless decoded.key?(:encoding)

          value = traits['encoding'] ? nil : content(decoded)
          names = names_of(value) + names_of(decoded[:metadata])
          names.uniq.sort unless names.empty?
        end

        def names_of(data)
          case data
          when Array then data.flat_map { |member| names_of(member) }
          when Hash then [*(data[RichData::TYPE].to_s if data.key?(RichData::TYPE)), *names_of(data.values)]
          else []
          end
        end

        def metadata(decoded)
          given = decoded[:metadata]
          return { 'metadata_names' => given.keys.sort } unless @metadata

          shown = without_named_secrets(RichData.replace(given, 'Sensitive') { REDACTED })
          shown = shown.merge('history' => REDACTED) if PASSGEN.all? { |name| given.key?(name) }
          { 'metadata' => shown, 'metadata_hidden' => (true unless shown == given) }.compact
        end

        def without_named_secrets(data)
          case data
          when Array then data.map { |member| without_named_secrets(member) }
          when Hash
            RichData.map_members(data) do |name, member|
              @secret_names.include?(name) ? REDACTED : without_named_secrets(member)
            end
          else data
          end
        end
      end
    end
  end
end
