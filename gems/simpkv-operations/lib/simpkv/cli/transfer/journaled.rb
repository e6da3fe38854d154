# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/transfer/journal'

module Simpkv
  module Cli
    # The options of a command that writes a journal, and its journal.
    module Journaled
      private

      def define_journal(parser)
        parser.on('--resume', 'continue after a kill') { @resume = true }
        parser.on('--journal FILE', 'the file of the journal (in the working directory)') do |file|
          @journal = DataFile.path(file, '--journal')
        end
      end

      # @param header [Hash] `target` and `source`
      # @return [Journal]
      # @raise [Failure]
      def open_journal(header)
        name = "simpkv-#{self.class.title.tr(' ', '-')}"
        usual = "#{name}-#{Time.now.utc.strftime('%Y%m%dT%H%M%S.%LZ')}.journal"
        return Journal.create(@journal || usual, header) unless @resume

        file = @journal || Journal.unfinished("#{name}-*.journal", header)
        return Journal.resume(file, header) if file

        # The first run may have been killed before it created a journal.
        warn 'simpkv: there is no journal of an unfinished run of this kind here: this one begins its own'
        Journal.create(usual, header)
      end
    end
  end
end
