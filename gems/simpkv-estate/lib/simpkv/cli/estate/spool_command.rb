# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'

module Simpkv
  module Cli
    # The base class of the commands for the spool of this machine: see {Estate::Spool}.
    class SpoolCommand < EstateCommand
      # @return [Array<String>] the entries that an argument may name
      def entries
        on_spool { |spool| spool.waiting.map(&:name) }
      end

      private

      # @yieldparam spool [Estate::Spool]
      # @raise [Failure] the estate has none, or it cannot be used
      def on_spool
        spool = estate.spool
        unless spool
          raise Failure.new("there is no spool: set 'spool' of 'estate' in #{configuration.source || SiteFile::DEFAULT}",
                            Failure::CONFIG)
        end
        yield spool
      rescue Simpkv::Error => e
        raise Failure.new(e.message, Failure.code_for(e))
      end

      # @param waiting [Estate::SpoolFolder::Waiting]
      # @param write [Estate::RunWrite, nil]
      # @return [Hash{String => Object}]
      def entry(waiting, write)
        { 'entry' => waiting.name, 'kind' => waiting.kind, 'node' => write&.certname, 'time' => waiting.time,
          'bytes' => waiting.bytes }
      end

      def no_entry(name)
        Failure.new("nothing of that name waits in the spool: '#{Output.name(name)}' (simpkv spool list)",
                    Failure::NO_INPUT)
      end
    end
  end
end
