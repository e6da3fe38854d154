# frozen_string_literal: true

module Simpkv
  module Native
    # The keys of a file (a JWK Set), which encrypt documents and decrypt them. Each call looks at the file, and reads
    # it again if it has changed. As long as that is not possible, calls raise as {#initialize} does. Thread-safe.
    class Keyring
      include Handle

      ENCRYPTED_ONLY = Library::HEADER.constant('SKV_PAGE_ENCRYPTED_ONLY')
      PLAIN_NAMES = Library::HEADER.constant('SKV_PAGE_PLAIN_NAMES')
      private_constant :ENCRYPTED_ONLY, :PLAIN_NAMES

      # Returns the name of the key that has encrypted a document, as the document says, without any key.
      #
      # @param document [String]
      # @return [String, nil] nil for a plain document
      # @raise [MalformedError] it is an encrypted document that has been changed
      def self.kid_of(document)
        Calls.reply(:optional) { |r| Library.skv_document_kid(*Calls.bytes(document), r) }
      end

      # @param file [String] an absolute path
      # @raise [InvalidError] there is no such file, or its content is wrong
      # @raise [DeniedError] its owner or its mode lets others change the keys or read them, or it cannot be read
      def initialize(file)
        hold(:skv_keyring_close, 'the keys are read already') { |r| Library.skv_keyring_open(*Calls.bytes(file), r) }
      end

      # Encrypts a document with the first key.
      #
      # @param backend [String] `<type>/<id>`
      # @param path [String] the path of the key that the document is for
      # @param document [String]
      # @return [String] the encrypted document
      # @raise [InvalidError] the path is not UTF-8
      # @raise [TooLargeError, UnavailableError, DeniedError]
      def encrypt(backend, path, document)
        call(:skv_keyring_encrypt, :data, backend, path, document)
      end

      # Decrypts a document that was stored for this backend and path.
      #
      # @param backend [String] `<type>/<id>`
      # @param path [String]
      # @param document [String]
      # @return [String, nil] the plain document, tagged UTF-8; nil if the document is not encrypted
      # @raise [MalformedError] it was changed, copied from elsewhere, or encrypted with another algorithm or key
      # @raise [DeniedError] the file has no key of its name
      # @raise [InvalidError]
      def decrypt(backend, path, document)
        call(:skv_keyring_decrypt, :optional, backend, path, document)
      end

      # Decrypts a page of a list, for {Native::Store}.
      def decrypt_page(page, backend, folder, encrypted_only, plain_names)
        flags = (encrypted_only ? ENCRYPTED_ONLY : 0) | (plain_names ? PLAIN_NAMES : 0)
        run(:skv_keyring_decrypt_page, :data, *Calls.bytes(backend), *Calls.bytes(folder), flags, *Calls.bytes(page))
      end

      # @return [Array<String>] the names of the keys; the first one encrypts
      def kids
        run(:skv_keyring_kids, :data).split("\0")
      end

      private

      def call(function, wanted, *texts)
        run(function, wanted, *texts.flat_map { |text| Calls.bytes(text) })
      end

      def run(function, wanted, *arguments)
        with_handle('no keys are read') do |keyring|
          Calls.reply(wanted) { |r| Library.public_send(function, keyring, *arguments, r) }
        end
      end
    end
  end
end
