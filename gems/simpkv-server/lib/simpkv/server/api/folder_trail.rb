# frozen_string_literal: true

require 'simpkv/audit/trail'

module Simpkv
  module Server
    module Api
      # The changes of some keys directly in a folder, by the audit log: one look at it for all of them. A key whose
      # name JSON escapes has none.
      class FolderTrail < Audit::Trail
        KEY = 'x'
        # What follows the folder in the line about such a key.
        NAME = %r{\A([^"/\\]+)",}n.freeze
        private_constant :KEY, :NAME

        # @param file [String] as for {Audit::Trail}, and so is `backend`
        # @param folder [String] the path in the store
        # @param names [Array<String>] of keys in it
        def initialize(file, backend, folder, names)
          super(file, backend, "#{folder}/#{KEY}")
          @about = @about.delete_suffix(%(#{KEY}",))
          @names = names.to_h { |name| [name.b, name] }
        end

        # @param since [Time] see {Audit::Trail#each}
        # @return [Hash{String => Array<Hash>}] lines by the name of the key
        # @raise [SystemCallError, InvalidError] see {Audit::Trail#each}
        def by_key(since:)
          enum_for(:each, since: since).group_by { |line| line['key'].split('/').last }
        end

        private

        # Lines of other keys are not parsed.
        def parse(line)
          rest = line.byteslice((line.index(@about) + @about.bytesize)..)
          super if @names.key?(rest[NAME, 1])
        end
      end
    end
  end
end
