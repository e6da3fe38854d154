# frozen_string_literal: true

module Simpkv
  class Estate
    # Documents of nodes with names that no node can have. Only another program can store one, and no command of simpkv
    # takes its name.
    class Misnamed
      # What to do with one.
      REMEDY = "delete it by hand: the file of this path below 'root_path', or the entry in the directory"

      # @param estate [Estate]
      def initialize(estate)
        @subjects = [estate.inventory, estate.statuses]
      end

      # @return [Array<String>] for each such document, and for what is none, a sentence that names it
      # @raise [Error, ConfigError] the store cannot be listed
      def all
        @subjects.flat_map do |documents|
          others = []
          names = documents.names { |key, reason| others << MalformedError.unreadable(key, reason).message }
          names.map { |name| why(documents, name) }.compact + others
        end
      end

      # @param certname [String] from a list of the store
      # @return [void]
      # @raise [MalformedError] no node can have the name: names the document, and says what to do
      def refuse(certname)
        return unless why(@subjects.first, certname)

        documents = @subjects.find { |each| each.names.include?(certname) }
        return unless documents # It has been deleted meanwhile.

        raise MalformedError, UnsafeCharacters.escaped("#{why(documents, certname)}. Another program has stored this " \
                                                       "document: #{REMEDY}")
      end

      private

      # @return [String, nil] nil for a name that a node can have
      def why(documents, name)
        documents.path(name)
        nil
      rescue InvalidError, TooLargeError => e
        e.message
      end
    end
  end
end
