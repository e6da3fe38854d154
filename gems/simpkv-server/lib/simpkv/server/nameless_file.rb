# frozen_string_literal: true

require 'rack'
require 'tempfile'

module Simpkv
  module Server
    # The file into which Rack writes that of a form. It has no name, because it may have secrets: a process that is
    # killed leaves none behind. A form has one at most: many would use up the open files of the process.
    class NamelessFile
      # A form has several files. Rack has nothing else that says so for each request.
      class Several < ArgumentError
        include Rack::BadRequest
      end
      private_constant :Several

      # @param env [Hash] of Rack, before somebody reads the form
      def initialize(env)
        @file = nil
        env[Rack::RACK_MULTIPART_TEMPFILE_FACTORY] = ->(*) { made }
      end

      # Reads the file, and closes it.
      #
      # @return [String] the content, which may be no UTF-8; empty for no file
      def take
        return '' if @file.nil? || @file.closed? # Rack closes that of a form with too many parts.

        @file.rewind
        @file.read.force_encoding(Encoding::UTF_8)
      ensure
        close
      end

      # @return [void]
      def close
        @file&.close
      end

      private

      # @return [File]
      # @raise [Several]
      def made
        raise Several, 'a form has one file at most' if @file

        @file = Tempfile.create('form')
        File.unlink(@file.path)
        @file
      end
    end
  end
end
