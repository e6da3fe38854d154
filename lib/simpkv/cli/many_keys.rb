# frozen_string_literal: true

module Simpkv
  module Cli
    # The common part of commands that change many keys: `@jobs` connections at a time, and `@errors`, the reasons why
    # single keys were not changed, by path.
    module ManyKeys
      private

      def define_jobs(parser)
        @jobs = 4
        parser.on('--jobs N', Integer, 'the number of concurrent connections (4)') do |number|
          @jobs = number.clamp(1, 256)
        end
      end

      # Notes an error of one key. Raises errors of the whole store.
      #
      # @return [Object, false] what the block returns; false after an error
      def noting_error(path)
        yield
      rescue TransientError
        raise
      rescue Simpkv::Error => e
        @errors[path] = e.message
        false
      end
    end
  end
end
