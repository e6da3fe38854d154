# frozen_string_literal: true

module Simpkv
  module Native
    # Reads the public headers of the core. The FFI binding takes its functions and numbers from there.
    class Header
      # The headers of this gem, or of this checkout.
      PATHS = %w[simpkv simpkv_answer simpkv_keyring simpkv_audit simpkv_changes simpkv_faults simpkv_rules
                 simpkv_secret].map { |name| File.expand_path("../../../ext/core/include/#{name}.h", __dir__) }.freeze

      # The types of FFI for those of C; POINTER matches the rest.
      TYPES = { 'int' => :int, 'skv_status' => :int, 'size_t' => :size_t, 'int64_t' => :int64, 'double' => :double,
                'void' => :void, 'const char *' => :buffer_in, 'skv_watch' => :pointer }.freeze
      POINTER = /\A(?:const )?(?:char|void|skv_\w+) \*\z/.freeze

      # Functions that wait or work for long without a cancel handle.
      LONG = %w[skv_open skv_answer_get skv_secret_make skv_secret_form skv_secret_crl].freeze
      private_constant :TYPES, :POINTER, :LONG

      # A declared function, with the types of FFI. `waits` is true if it may wait for a lock, a disk or a server,
      # or work for long: most such functions take a cancel handle. `replies` is true if it fills a reply.
      Function = Struct.new(:result, :parameters, :waits, :replies)

      # @return [Hash{String => Function}] the functions by name
      attr_reader :functions

      # @return [Array<String>] the names of the statuses, by number
      attr_reader :statuses

      # @return [Hash{String => String}] the comments on the statuses, by their names
      attr_reader :meanings

      # @raise [LoadError] a file cannot be read, or it has a declaration that this class does not know
      def self.read(*paths)
        paths = PATHS if paths.empty?
        new(paths.map { |path| File.read(path, encoding: 'UTF-8') }.join)
      rescue SystemCallError => e
        raise LoadError, "simpkv's header, a file of the gem, cannot be read (run `gem pristine simpkv`): #{e.message}"
      end

      # @param text [String] the header
      def initialize(text)
        @meanings = text.scan(%r{\bX\(\d+, \w+, "(\w+)"\)\s*/\* (.*?) \*/}).to_h
        code = text.gsub(%r{/\*.*?\*/}m, '')
        statuses = code.scan(/\bX\((\d+), (\w+), "(\w+)"\)/)
        numbers = statuses.map { |number, name| ["SKV_#{name}", number] } + code.scan(/^#define (SKV_\w+) (\d+)\s*$/)
        @statuses = statuses.map(&:last)
        @constants = numbers.to_h { |name, number| [name, Integer(number)] }
        declarations = code.scan(/^SKV_API\b([^;]*);/).flatten
        @functions = declarations.to_h { |declaration| function(declaration.gsub(/\s+/, ' ').strip) }
      end

      # @param name [String] a numeric macro or a status, such as 'SKV_ABI' or 'SKV_NOT_FOUND'
      # @return [Integer]
      # @raise [LoadError] the header does not define it
      def constant(name)
        @constants.fetch(name) { raise LoadError, "simpkv.h does not define the number #{name}" }
      end

      private

      # @param declaration [String] such as 'int skv_stats(skv_reply *reply)'
      def function(declaration)
        result, name, parameters = /\A(.+?) ?(skv_\w+)\((.+)\)\z/.match(declaration)&.captures
        raise unknown(declaration, declaration) unless name

        parameters = parameters == 'void' ? [] : parameters.split(', ')
        types = parameters.map { |parameter| ffi_type(parameter[/\A.*[ *](?=\w+\z)/].to_s.strip, declaration) }
        waits = parameters.include?('skv_cancel *cancel') || LONG.include?(name)
        replies = parameters.last == 'skv_reply *reply'
        [name, Function.new(result_type(name, ffi_type(result, declaration)), types, waits, replies)]
      end

      def ffi_type(type, declaration)
        TYPES.fetch(type) { POINTER.match?(type) ? :pointer : raise(unknown(type, declaration)) }
      end

      # A const char * is a text, except for data, in which a NUL does not end it.
      def result_type(name, type)
        return type unless type == :buffer_in

        name == 'skv_reply_data' ? :pointer : :string
      end

      def unknown(part, declaration)
        LoadError.new("simpkv.h declares '#{declaration}', and the FFI binding does not know '#{part}': add it to " \
                      'lib/simpkv/native/header.rb')
      end
    end
  end
end
