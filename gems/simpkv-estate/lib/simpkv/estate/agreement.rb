# frozen_string_literal: true

module Simpkv
  class Estate
    # The option `encrypt` of the backend, about which all processes that use the estate must agree (docs/adr/0063).
    # The marker of the inventory records it:
    #
    #     { 'encrypt' => 'all', 'folders' => ['catalogs', 'reports'] }
    #
    # It records `all` or `sensitive`, or nothing: then processes may differ. `folders` are the subjects beside {MARKED}
    # whose folders have a marker: an estate of an earlier version has none of these.
    class Agreement
      # The subject whose marker has the record.
      SUBJECT = 'inventory'
      OPTION = 'encrypt'
      FOLDERS = 'folders'
      MODES = [nil, 'all', 'sensitive'].freeze
      REMEDY = "Correct the options of this process, and restart it. To change those of all, begin with 'simpkv init " \
               "--unpin'"
      private_constant :MODES, :REMEDY

      # @return [Array<String>] the subjects beside {MARKED} whose folders have a marker, as the estate recorded them
      #   when the marker was last read; empty before
      attr_reader :folders

      # @param settings [Hash{String => Object}] the options of the backend
      def initialize(settings)
        @folders = []
        @keys = settings.key?('encryption_keys')
        @encrypted_only = settings['encrypted_only']
        @mode = @keys ? settings[OPTION] : 'none'
      end

      # @return [Hash{String => String}] what the marker records of the options of this process
      def record
        @mode == 'none' ? {} : { OPTION => @mode }
      end

      # @return [String] the path of the marker
      def path
        [FOLDER, SUBJECT, MARKER].join('/')
      end

      # Reads the marker, and compares.
      #
      # @param store [Store]
      # @return [void]
      # @raise [DisagreementError] the options differ, or the file of keys lacks the key of the marker
      # @raise [Error] the store failed
      def check(store)
        compare(store, store.get(path, required: false))
      rescue DeniedError => e
        refuse(e) if @keys && shown?(store.below)
        nil # This identity cannot read the inventory. What it can read has the other checks.
      end

      # Compares, and has the store refuse plain documents of the estate if the marker records that there are none.
      #
      # @param store [Store]
      # @param marker [String, Error, nil] the document, or why it cannot be read
      # @return [void]
      # @raise [DisagreementError] the options differ
      # @raise [Error] the marker cannot be read. A missing one says nothing
      def compare(store, marker)
        if marker.nil? || marker.is_a?(NotFoundError)
          @folders = MARKED_LATER # All of the estate is missing, or hidden.
          return
        end

        demand_plain(marker)
        value = value_of(marker)
        @folders = value.fetch(FOLDERS, [])
        recorded = value[OPTION]
        unless [nil, @mode].include?(recorded)
          raise DisagreementError, "the estate records 'encrypt: #{recorded}', and #{mine}. #{REMEDY}"
        end

        store.encrypted_paths = recorded == 'all' ? ["#{FOLDER}/"] : [] if @keys && !@encrypted_only
      end

      # @param marker [String, Error] the document of any marker, or why it cannot be read
      # @return [void]
      # @raise [DisagreementError] it is encrypted, and this process has no keys
      # @raise [Error] it cannot be read
      def demand_plain(marker)
        raise marker if marker.is_a?(Error)
        raise DisagreementError, "the estate is encrypted, and #{mine}. #{REMEDY}" if Codec.encrypted?(marker)
      end

      # @param marker [String] the document
      # @return [String, nil] the value of the option
      # @raise [MalformedError]
      def recorded(marker)
        value_of(marker)[OPTION]
      end

      private

      # @return [Hash]
      def value_of(marker)
        value = Codec.decode(marker)[:value]
        return value if value.is_a?(Hash) && MODES.include?(value[OPTION]) && folders?(value.fetch(FOLDERS, []))

        raise MalformedError, Documents::OTHER_FORM
      rescue MalformedError => e
        raise MalformedError.unreadable(path, e.message), cause: nil
      end

      def folders?(value)
        value.is_a?(Array) && value.all?(String)
      end

      # @param below [Store] with the documents as they are stored
      # @return [Boolean] whether this identity may read the marker
      def shown?(below)
        !below.get(path, required: false).nil?
      rescue DeniedError
        false
      end

      # The marker is encrypted with a key that this process lacks: other processes could not read what this one stores.
      def refuse(error)
        raise DisagreementError, "the estate has other keys than this process: #{error.message}. Correct the file of " \
                                 'keys', cause: nil
      end

      def mine
        "this process has #{@keys ? "'encrypt: #{@mode}'" : "no 'encryption_keys'"}"
      end
    end
    private_constant :Agreement
  end
end
