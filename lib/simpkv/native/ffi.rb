# frozen_string_literal: true

raise LoadError, "this process uses simpkv's #{Simpkv::Native.binding_name} binding already" if defined?(Simpkv::Native)

require 'ffi'
require 'simpkv/json_reader'
require 'simpkv/json_writer'
require 'simpkv/native/library'

module Simpkv
  # The binding over libsimpkv.so, for JRuby; the same methods as the extension for MRI.
  module Native
    LAYOUTS = { plain: 0, hex: 1 }.freeze
    KINDS = { key: 1, folder: 2 }.freeze
    KIND_NAMES = KINDS.invert.freeze
    CONDITIONS = { any: 0, absent: 1, expect: 2 }.freeze
    private_constant :LAYOUTS, :KINDS, :KIND_NAMES, :CONDITIONS

    # Each method passes a String as a pointer and a length, in bytes.
    class << self
      def binding_name
        'ffi'
      end

      def abi
        Library.skv_abi
      end

      def version
        Library.skv_version
      end

      def status_name(number)
        Library.skv_status_name(number)
      end

      def key_check(key, upper)
        reply { |r| Library.skv_key_check(*bytes(key), upper ? 1 : 0, r) }
        nil
      end

      def key_join(prefix, key)
        reply(:data) { |r| Library.skv_key_join(*bytes(prefix), *bytes(key), r) }
      end

      def dn_from_path(layout, kind, base_dn, id, path)
        layout = choice(:layout, LAYOUTS, layout)
        kind = choice(:kind, KINDS, kind)
        reply(:data) { |r| Library.skv_dn_from_path(layout, kind, *bytes(base_dn), *bytes(id), *bytes(path), r) }
      end

      def path_from_dn(layout, base_dn, id, dn)
        layout = choice(:layout, LAYOUTS, layout)
        number, path = reply(:number, :data) do |r|
          Library.skv_path_from_dn(layout, *bytes(base_dn), *bytes(id), *bytes(dn), r)
        end
        [KIND_NAMES[number], path]
      end

      def filter_escape(value)
        reply(:data) { |r| Library.skv_filter_escape(*bytes(value), r) }
      end

      def format_double(number)
        FFI::MemoryPointer.new(:char, Library::DOUBLE_MAX) do |out|
          length = Library.skv_format_double(number, out)
          return length.zero? ? nil : out.read_string(length).force_encoding(Encoding::UTF_8)
        end
      end

      def document_same?(first, second)
        reply(:number) { |r| Library.skv_document_same(*bytes(first), *bytes(second), r) } == 1
      end

      def generate(object)
        JsonWriter.generate(object)
      end

      def parse(document)
        JsonReader.parse(document)
      end

      def stats
        parse(reply(:data) { |r| Library.skv_stats(r) })
      end

      # Runs a call with a reply, and answers what it asks of it (:data, :number, or both as an Array).
      # @api private
      def reply(*wanted)
        reply = Library.skv_reply_new
        raise NoMemoryError, 'simpkv: out of memory' if reply.null?

        begin
          yield reply
          failure(reply) if Library.skv_reply_status(reply) > Library::END_OF_LIST
          found = wanted.map { |what| what == :data ? data(reply) : Library.skv_reply_number(reply) }
          found.length > 1 ? found : found.first
        ensure
          Library.skv_reply_free(reply)
        end
      end

      # The arguments that stand for a String: its bytes, which no other thread can change meanwhile, and their number.
      # @api private
      def bytes(string)
        raise TypeError, "no implicit conversion of #{string.class} into String" unless string.respond_to?(:to_str)

        string = string.to_str
        string = string.dup.freeze unless string.frozen?
        [string, string.bytesize]
      end

      # @api private
      def choice(name, choices, wanted)
        choices.fetch(wanted) { raise ArgumentError, "#{name} is #{choices.keys.map(&:inspect).join(' or ')}" }
      end

      private

      def failure(reply)
        name = Library.skv_status_name(Library.skv_reply_status(reply))
        raise Error.for(name), Library.skv_reply_message(reply).force_encoding(Encoding::UTF_8)
      end

      def data(reply)
        size = Library.skv_reply_size(reply)
        Library.skv_reply_data(reply).read_string(size).force_encoding(Encoding::UTF_8)
      end
    end

    # A store of the core. Thread-safe.
    class Store
      # The shape of a record in a list's page: see skv_list_next() in simpkv.h.
      HEADER = 'aLL'
      HEADER_SIZE = 9
      private_constant :HEADER, :HEADER_SIZE

      def initialize(type, options)
        packed = options.map { |name, value| "#{option(name)}\0#{option(value)}\0" }.join
        handle = nil
        Native.reply { |r| handle = Library.skv_open(*Native.bytes(type), *Native.bytes(packed), r) }
        @store = FFI::AutoPointer.new(handle, Library.method(:skv_close))
      end

      def get(key, timeout_ms)
        call(:skv_get, key, timeout_ms, :data)
      end

      def kind(key, timeout_ms)
        KIND_NAMES[call(:skv_exists, key, timeout_ms, :number)]
      end

      def put(key, document, condition, expect, timeout_ms)
        condition = Native.choice(:condition, CONDITIONS, condition)
        expected = expect ? Native.bytes(expect) : [nil, 0]
        arguments = [*Native.bytes(key), *Native.bytes(document), condition, *expected]
        open_store { |store| Native.reply(:number) { |r| Library.skv_put(store, *arguments, timeout_ms, nil, r) } == 1 }
      end

      def delete(key, timeout_ms)
        call(:skv_delete, key, timeout_ms, :number) == 1
      end

      def deletetree(folder, timeout_ms)
        call(:skv_deletetree, folder, timeout_ms, :number) == 1
      end

      def list(folder, timeout_ms)
        found = { keys: {}, folders: [], errors: {} }
        open_store do |store|
          list = nil
          Native.reply { |r| list = Library.skv_list_open(store, *Native.bytes(folder), timeout_ms, nil, r) }
          begin
            nil while (page = next_page(list, timeout_ms)) && unpack(page, found)
          ensure
            Library.skv_list_close(list)
          end
        end
        found
      end

      # Later calls raise; those under way end as usual. Does no I/O.
      def close
        @store = nil
      end

      private

      def option(text)
        raise InvalidError, 'an option holds a NUL byte' if text.include?("\0")

        text
      end

      def open_store
        store = @store
        raise InvalidError, 'the store is closed' unless store

        begin
          yield store
        ensure
          # Still needed here, so that no collector frees it during the call.
          store.address
        end
      end

      def call(function, key, timeout_ms, wanted)
        open_store do |store|
          Native.reply(wanted) { |r| Library.public_send(function, store, *Native.bytes(key), timeout_ms, nil, r) }
        end
      end

      # nil after the last page.
      def next_page(list, timeout_ms)
        over = false
        page = Native.reply(:data) { |r| over = Library.skv_list_next(list, timeout_ms, nil, r) == Library::END_OF_LIST }
        page unless over
      end

      def unpack(page, found)
        offset = 0
        while offset < page.bytesize
          kind, name_size, body_size = page.byteslice(offset, HEADER_SIZE).unpack(HEADER)
          name = page.byteslice(offset + HEADER_SIZE, name_size)
          body = page.byteslice(offset + HEADER_SIZE + name_size, body_size)
          offset += HEADER_SIZE + name_size + body_size
          file(found, kind, name, body)
        end
        found
      end

      def file(found, kind, name, body)
        case kind
        when 'k' then found[:keys][name] = body
        when 'f' then found[:folders] << name
        else found[:errors][name] = body
        end
      end
    end
  end
end
