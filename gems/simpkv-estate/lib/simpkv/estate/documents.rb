# frozen_string_literal: true

require 'digest/sha2' # At once: its autoload fails if several threads cause it.
require 'simpkv/document/stored_form'
require 'simpkv/estate/key_names'
require 'simpkv/estate/marked_folder'

module Simpkv
  class Estate
    # The documents of one subject, such as `facts`, by the name of a node or by further names below it. A document's
    # value is plain data.
    class Documents
      include KeyNames
      include MarkedFolder

      # A document as it is stored, and its value.
      Stored = Struct.new(:document, :value)

      # The subjects whose document each run of a node replaces, even a plain one where plain documents are refused.
      RENEWED = %w[inventory status].freeze
      OTHER_FORM = 'it has another form than simpkv writes'
      NO_DOCUMENT = 'it is a folder, and not a document'
      NO_FOLDER = 'it is a document, and not a folder'

      # @param document [String]
      # @return [String] the digest that the inventory has of it
      def self.digest(document)
        Digest::SHA256.hexdigest(document)[0, 16]
      end

      # @param estate [Estate]
      # @param subject [String] the name of the folder below `estate`
      def initialize(estate, subject)
        @estate = estate
        @subject = subject
      end

      # @return [Stored, nil] nil if there is none
      # @raise [MalformedError] names the key
      def read(*names)
        place = path(*names)
        document = @estate.store.get(place, latest: true, required: false)
        document && Stored.new(document, decoded(place, document))
      end

      # @return [Object, nil] the value; nil if there is none
      # @raise [MissingError] there is none, and the folder has no marker
      # @raise [MalformedError] names the key
      def get(*names)
        stored = read(*names)
        return demand_folder unless stored
        return stored.value if valid?(stored.value)

        raise MalformedError.unreadable(path(*names), OTHER_FORM)
      end

      # Reads a document to replace it.
      #
      # @return [Stored, nil] nil if there is none; its value is nil if it is malformed. Its document is nil as well if
      #   it is an encrypted one that is damaged
      # @raise [DeniedError] it is encrypted with a key that this process does not have
      # @raise [EncryptedStore::PlainError] it is plain, and must not be
      def readable(*names)
        document = @estate.store.get(path(*names), latest: true, required: false)
        document && Stored.new(document, value_or_nil(path(*names), document))
      rescue MalformedError => e
        raise if e.is_a?(EncryptedStore::PlainError) && !RENEWED.include?(@subject)

        Stored.new(nil, nil)
      end

      # Reads many documents of the subject's folder, with one connection in a directory.
      #
      # @param names [Array<String>] from {#names}
      # @return [Hash{String => Object}] the values of those that can be read
      # @raise [TransientError, DeniedError] the store failed
      def many(names)
        read_many(names.map { |name| [name] }).reject { |_, value| value.is_a?(Error) }.transform_keys(&:first)
      end

      # Reads many documents, with one connection in a directory.
      #
      # @param keys [Array<Array<String>>] the names of each key below the subject's folder
      # @return [Hash{Array<String> => Object}] the values of those that are stored; for one that cannot be read, an
      #   {Error} that names the key
      # @raise [TransientError, DeniedError] the store failed
      def read_many(keys)
        places = keys.to_h { |names| [place(names), names] }
        documents = @estate.store.get_many(places.keys).reject { |_, document| document.is_a?(NotFoundError) }
        documents.each_value { |error| raise error if error.is_a?(TransientError) || error.is_a?(DeniedError) }
        documents.to_h { |place, document| [places[place], value_or_error(place, document)] }
      end

      # Reads many documents, all of which must have the form of the subject.
      #
      # @param keys [Array<Array<String>>] as for {#read_many}
      # @param valid [Proc] says whether a value has the form of the subject
      # @param known [Proc] gets the names of a key and its document. If it returns true, the document is not decoded,
      #   and its value is nil
      # @yieldparam key [String] of a document whose content is malformed
      # @yieldparam why [String]
      # @return [Hash{Array<String> => Stored}] those that are stored
      # @raise [MissingError] one is not stored, and the folder has no marker
      # @raise [MalformedError] without a block: a document is malformed; names the key
      # @raise [Error] the store cannot read a document
      def demand_many(keys, valid: method(:valid?), known: ->(_names, _document) { false })
        places = keys.to_h { |names| [path(*names), names] }
        stored_among(places.keys).each_with_object({}) do |(place, document), stored|
          value = unread(places[place], document, known) || valid_or_error(place, document, valid)
          next stored[places[place]] = value unless value.is_a?(Error)
          raise value unless block_given? && value.is_a?(MalformedError)

          yield place, value.reason
        end
      end

      # @return [Hash{String => String}] the digests of the documents in the subject's folder, by name
      # @raise [ConfigError] the folder has no marker
      # @raise [MalformedError] the store cannot read a document; names the key
      def digests
        listed = listed([]) { |_, document| Documents.digest(document) }
        refuse_or_report(path, unreadable(listed), true)
        listed[:keys]
      end

      # @yieldparam key [String] of something in the subject's folder that is no document
      # @yieldparam why [String]
      # @return [Array<String>] the names of the keys in the subject's folder
      # @raise [ConfigError] the folder has no marker
      # @raise [MalformedError] without a block: something in it is no document; names the key
      def names(&block)
        tree = @estate.store.tree(path, values: false, required: false)
        names = tree[:keys].keys
        names.delete(MARKER) || refuse_unmarked([])
        refuse_or_report(path, unreadable(tree), false, &block)
        names
      end

      # @return [Array<String>] the names of the folders in the subject's folder
      # @raise [ConfigError] the folder has no marker
      # @raise [MalformedError] something in it is no folder; names it
      def folders
        listed = listed([]) { nil }
        files = listed[:keys].transform_values { NO_FOLDER }
        refuse_or_report(path, listed[:errors].merge(files), true)
        listed[:folders]
      end

      # @param value [Object] plain data
      # @return [Boolean] whether it was written; an equal document stays
      def put(*names, value)
        @estate.store.put(path(*names), Codec.encode(value))
      end

      # Stores a value under a name that has none.
      #
      # @param value [Object] plain data
      # @return [Boolean] whether it was stored; false if there is another document
      def put_if_absent(*names, value)
        demand_folder
        @estate.store.put(path(*names), Codec.encode(value), condition: :absent, non_unique: true)
      rescue ExistsError
        false
      end

      # Stores many documents, with one connection in a directory.
      #
      # @param documents [Hash{Array<String> => String}] by the names of the key
      # @return [void]
      # @raise [Error] the first one; others may have been stored
      def put_many(documents)
        store_many(documents.transform_keys { |names| path(*names) })
      end

      # Replaces a value if no other writer has done so since it was read. Reads it again otherwise, and calls the block
      # again.
      #
      # @param names [Array<String>]
      # @param known [Stored, nil] what an earlier {#read} returned, to save another one
      # @yieldparam value [Object, nil] the stored value; nil for none or for one that cannot be read
      # @yieldreturn [Object, nil] the new value; nil or an equal one keeps what is stored
      # @return [Stored] what is stored now
      # @raise [ConflictError] other writers were faster each time
      def update(*names, known: nil)
        CompareAndSwap.repeat("'#{path(*names)}': others keep changing it: try again") do
          stored = known || readable(*names)
          known = nil
          value = yield(stored&.value)
          CompareAndSwap.attempt { replace(path(*names), stored, value) }
        end
      end

      # @return [Boolean] whether it existed
      def delete(*names)
        @estate.store.delete(path(*names))
      end

      # @param document [String] the one that must be stored now
      # @return [Boolean] whether it was deleted; false if there is another one, or none
      def delete_expected(*names, document)
        @estate.store.delete(path(*names), expect: document)
      end

      # Deletes a folder of the subject.
      #
      # @return [Boolean] whether it existed
      def deletetree(*names)
        @estate.store.deletetree(path(*names))
      end

      # Reads the documents of a folder.
      #
      # @param names [Array<String>] the folder below the subject's; none for that itself
      # @param valid [Proc] says whether a value has the form of the subject
      # @param as [Proc] replaces each value in the result as soon as it is read: it gets the name and the value. It
      #   should not call a store
      # @param except [String, nil] the name of a document that may be unreadable
      # @param strict [Boolean] whether the block gets only documents that the store has read, and whose content is
      #   malformed
      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Object}] values by name, unsorted
      # @raise [MalformedError] without a block: a document cannot be read; with `strict`: the store cannot read it, or
      #   it is encrypted; names the key
      def all(*names, valid: method(:valid?), as: ->(_, value) { value }, except: nil, strict: false, &block)
        folder = path(*names)
        listed = listed(names) do |name, document|
          decoded_or_error(document, valid) { |value| as.call(name, value) }
        end
        values, errors = listed[:keys].partition { |_, value| !value.is_a?(Error) }.map(&:to_h)
        [unreadable(listed), errors].each do |reasons|
          refuse_or_report(folder, reasons.reject { |name, _| name == except }, strict, &block)
        end
        values
      end

      private

      # @return [Hash{String => String, Error}] those that are stored
      # @raise [MissingError] one is not, and the folder has no marker
      def stored_among(places)
        found = @estate.store.get_many(places).reject { |_, document| document.is_a?(NotFoundError) }
        demand_folder if found.length < places.length
        found
      end

      # @return [String] the path of names that are known to be valid
      def place(names)
        [FOLDER, @subject, *names].join('/')
      end

      # @param documents [Hash{String => String}] by the path in the store, of any subject
      def store_many(documents)
        return if documents.empty? # Ruby 2.6 takes an empty Hash for options.

        @estate.store.put_many(documents).each_value { |result| raise result if result.is_a?(Error) }
      end

      # @return [Boolean] whether a value has the form of the subject
      def valid?(_value)
        true
      end

      # @raise [MalformedError]
      # @raise [DeniedError] the document is encrypted, and the options of this process have no keys
      def decoded(place, document)
        Codec.decode(document)[:value]
      rescue MalformedError => e
        type = Codec.encrypted?(document) ? DeniedError : MalformedError
        raise type.unreadable(place, StoredForm.reason(document, e)), cause: nil
      end

      def decoded_or_error(document, valid)
        value = Codec.decode(document)[:value]
        valid.call(value) ? yield(value) : MalformedError.new(OTHER_FORM)
      rescue MalformedError => e
        Codec.encrypted?(document) ? DeniedError.new(e.message) : MalformedError.new(StoredForm.reason(document, e))
      end

      # @return [Hash{String => String}] by name, why an entry of a list has no document
      def unreadable(listed)
        listed[:errors].merge(listed[:folders].to_h { |name| [name, NO_DOCUMENT] })
      end

      # @param errors [Hash{String => String, Error}] by name
      def refuse_or_report(folder, errors, strict)
        errors.sort_by(&:first).each do |name, error|
          refused = !block_given? || (strict && !error.is_a?(MalformedError))
          reason = error.to_s.sub(/\ACannot read '.*?': /, '') # The store names the key, too.
          raise MalformedError.unreadable("#{folder}/#{name}", reason) if refused

          yield "#{folder}/#{name}", reason
        end
      end

      # @return [Object, nil] nil if it is malformed
      def value_or_nil(place, document)
        value = decoded(place, document)
        value if valid?(value)
      rescue MalformedError
        nil
      end

      def value_or_error(place, document)
        document.is_a?(Error) ? document : decoded(place, document)
      rescue MalformedError, DeniedError => e
        e
      end

      # @return [Stored, nil] without a value; nil for a document that is to be decoded
      def unread(names, document, known)
        Stored.new(document, nil) if document.is_a?(String) && known.call(names, document)
      end

      # @return [Stored, Error] an error names the key
      def valid_or_error(place, document, valid)
        value = value_or_error(place, document)
        return value if value.is_a?(Error)

        valid.call(value) ? Stored.new(document, value) : MalformedError.unreadable(place, OTHER_FORM)
      end

      def replace(place, stored, value)
        return stored if value.nil? || (stored && value == stored.value)

        demand_folder unless stored
        document = Codec.encode(value)
        @estate.store.put(place, document, condition: condition(stored), expect: stored&.document)
        Stored.new(document, value)
      end

      # Nobody can compare a damaged document.
      def condition(stored)
        return :absent unless stored

        stored.document ? :expect : :any
      end
    end
  end
end
