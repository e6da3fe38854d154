# frozen_string_literal: true

require 'simpkv/native/json_reader'
require 'simpkv/server/problem'

module Simpkv
  module Server
    # Reads bodies in JSON.
    module BodyJson
      # The parsers hold Ruby's lock. Of larger bodies, one is read at a time: others would wait for all of them.
      LARGE = 64 * 1024
      ONE = Mutex.new
      private_constant :LARGE, :ONE

      # @param text [String]
      # @return [Object]
      # @raise [Problem] it is no JSON, or is nested too deeply; a number is too large; an object has a member twice:
      #   readers differ in which one they take
      def self.parse(text)
        text.bytesize > LARGE ? ONE.synchronize { read(text) } : read(text)
      end

      def self.read(text)
        data = Native.parse(text.force_encoding(Encoding::UTF_8))
        return data if JsonReader.unique?(text, data)

        raise Problem.new(400, 'the body has an object with a member that is given twice')
      rescue MalformedError => e # Its message has no part of the text.
        raise Problem.new(400, "the body cannot be read: #{e.message}"), cause: nil
      end
      private_class_method :read
    end
  end
end
