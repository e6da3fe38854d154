# frozen_string_literal: true

require 'simpkv/server/console/keys/shown_value'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # The form for a value: what it shows at first, or what a person has entered; and the body of the PUT that this
        # means.
        class ValueForm
          FIELDS = %w[name format value sensitive metadata expires history etag].freeze
          # What the person enters, by the value of the field `format`.
          FORMATS = { 'text' => 'plain text', 'json' => 'JSON', 'base64' => 'base64, of bytes' }.freeze
          # Earlier values of a key at most.
          HISTORY = Versions::HISTORY_MAX
          # Bytes of HTML of the value and the metadata in a form that shows what is stored.
          EDITABLE = 60_000
          private_constant :HISTORY, :EDITABLE

          attr_reader(*FIELDS)

          class << self
            # @return [ValueForm] for a new key
            def empty
              new('format' => 'text')
            end

            # @param form [Form] that was sent
            # @return [ValueForm] what a person has entered
            # @raise [Problem] a field is no text
            def entered(form)
              new(FIELDS.to_h { |name| [name, form[name]] })
            end

            # @param description [Hash] of the key
            # @param etag [String, nil] of its document
            # @return [ValueForm] to replace a value that is not shown
            def of(description, etag)
              new('format' => description['encoding'] || 'text', 'sensitive' => description['sensitive'],
                  'metadata' => metadata(description), **kept(description, etag))
            end

            # @param shown [ShownValue]
            # @param body [Hash] of the key with its value
            # @param description [Hash] of the key
            # @param etag [String, nil] of the document with this value
            # @return [ValueForm] with the value
            def with_value(shown, body, description, etag)
              new('format' => shown.format, 'value' => shown.text, 'sensitive' => body['sensitive'],
                  'metadata' => ShownValue.json(body['metadata']), **kept(description, etag))
            end

            private

            def metadata(description)
              data = description['metadata'] unless description['metadata_hidden']
              ShownValue.json(data) if data
            end

            # All values that the key has, and the one that is replaced.
            def kept(description, etag)
              expired = description['expired']
              { 'expires' => (description['expires'] unless expired), 'etag' => (etag unless expired),
                'history' => [description['versions'].length, HISTORY].min.to_s }
            end
          end

          # @param fields [Hash{String => Object}]
          def initialize(fields)
            FIELDS.each { |name| instance_variable_set("@#{name}", fields[name].to_s) }
          end

          # @param etag [String, nil]
          # @return [ValueForm] the same for another document in its place
          def for_etag(etag)
            self.class.new(FIELDS.to_h { |name| [name, public_send(name)] }.merge('etag' => etag))
          end

          # @return [ValueForm] the same
          # @raise [Problem] 413: it would be too large for a page
          def check_size
            return self if Excerpt.bytes(value) + Excerpt.bytes(metadata) <= EDITABLE

            raise Problem.new(413, "the value (#{value.length} characters) and the metadata (#{metadata.length}) are " \
                                   'too long for a form: simpkv edit changes the value and keeps the metadata, and ' \
                                   'simpkv put replaces the value, with --keep-metadata or with --metadata')
          end

          # @return [Hash{String => Object}] for the API
          # @raise [Problem] a field cannot be read, or there is no value
          def body
            { 'value' => entered_value, 'encoding' => ('base64' if format == 'base64'),
              'sensitive' => (true unless sensitive.empty?), 'metadata' => entered_metadata,
              'history' => entered_history, **entered_expiry }.compact
          end

          # @return [Hash{String => String}] the time at which the key expires; empty for never
          def entered_expiry
            text = expires.strip
            return {} if text.empty?

            Coercion.convert(:lifetime, text) ? { 'expires_after' => text } : { 'expires' => text }
          end

          # @return [Hash{String => Object}]
          # @raise [Problem] it cannot be read
          def entered_metadata
            return {} if metadata.strip.empty?

            data = parsed(metadata, 'the text in the field for metadata')
            return data if data.is_a?(Hash)

            raise Problem.new(400, 'the metadata must be an object in JSON, such as {"owner": "dba"}')
          end

          private

          # A form that hides the value begins with an empty field: nobody means an empty value by that.
          def entered_value
            entered = converted_value
            return entered if format == 'json' || !entered.empty?

            raise Problem.new(400, 'the field for the value is empty: nothing was stored. To store an empty text, ' \
                                   'choose JSON, and enter ""')
          end

          def converted_value
            case format
            when 'text' then value.gsub("\r\n", "\n")
            when 'base64' then value.gsub(/\s/, '')
            when 'json' then parsed(value, 'the value')
            else raise Problem.new(400, 'choose how you have entered the value: plain text, JSON or base64')
            end
          end

          # The message of the parser would quote the text.
          def parsed(text, what)
            Native.parse(text)
          rescue MalformedError
            raise Problem.new(400, "#{what} is not JSON: nothing was stored"), cause: nil
          end

          # @return [Integer, String, nil] nil for what the backend says; the API refuses another text
          def entered_history
            return if history.empty?

            Coercion.convert(0..HISTORY, history) || history
          end
        end
      end
    end
  end
end
