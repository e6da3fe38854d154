# frozen_string_literal: true

module Simpkv
  class Estate
    # The names of keys, of which clients and nodes choose parts: names of nodes, and of types.
    module KeyNames
      # The number of characters of a name in a message.
      SHOWN_MAX = 100
      private_constant :SHOWN_MAX

      # @param name [String]
      # @return [String] the name for a message, in which a long one is cut
      def self.shown(name)
        name.length > SHOWN_MAX ? "#{name[0, SHOWN_MAX]}..." : name
      end

      # @param names [Array<String>] the names of the key below the subject's folder
      # @return [String] the path in the store
      # @raise [InvalidError, TooLargeError] a name cannot be a part of a key; the message says which
      def path(*names)
        names.each { |name| check(name) }
        [FOLDER, @subject, *names].join('/')
      end

      # Checks whether the store can have a key, before anything that belongs to it is written.
      #
      # @param names [Array<String>] as for {#path}
      # @return [void]
      # @raise [InvalidError, TooLargeError] it cannot; the message says which name is wrong
      def check_key(*names)
        @estate.check_key(path(*names))
      end

      # @param names [Array<String>] as for {#path}
      # @return [Boolean] whether the store can have a key
      def key?(*names)
        check_key(*names)
        true
      rescue InvalidError, TooLargeError
        false
      end

      private

      def check(name)
        raise InvalidError, "the name '#{name}' is that of a marker of simpkv" if name == MARKER
        raise InvalidError, 'it is empty' if name.empty?
        raise InvalidError, "the name '#{name}' has a '/', and cannot be a part of a key" if name.include?('/')

        Native.key_check(name, @estate.case_sensitive?)
      rescue InvalidError, TooLargeError => e
        shown = KeyNames.shown(name)
        # The core quotes the name as well.
        why = name == shown ? e.message : e.message.sub(/'#{Regexp.escape(shown.chomp('...'))}[^']*'/, 'it')
        raise e.reworded("'#{shown}' cannot be the name of a key in '#{FOLDER}/#{@subject}': #{why}"), cause: nil
      end
    end
  end
end
