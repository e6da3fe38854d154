# frozen_string_literal: true

if defined?(Simpkv::Native.binding_name)
  raise LoadError, "this process uses simpkv's #{Simpkv::Native.binding_name} binding already"
end

begin
  require 'ffi'
rescue LoadError => e
  hint = if RUBY_ENGINE == 'jruby'
           "JRuby unpacks FFI's native part into a temporary folder, which fails if that is mounted noexec: name " \
             'another with -Djava.io.tmpdir=FOLDER among the arguments of Java'
         else
           'install the gem ffi, or unset SIMPKV_NATIVE'
         end
  raise LoadError, "#{e.message} (#{hint})"
end
require 'simpkv/native/json_reader'
require 'simpkv/native/json_writer'
begin
  require 'simpkv/native/library'
  require 'simpkv/native/calls'
rescue LoadError
  # Another attempt in this process starts afresh.
  Simpkv::Native.__send__(:remove_const, :Library) if defined?(Simpkv::Native::Library)
  raise
end

module Simpkv
  # The binding over libsimpkv.so, for JRuby. It has the methods of the extension for MRI.
  module Native
    # @return [Integer] the number that simpkv.h gives a name: number('KEY_UPPER') is SKV_KEY_UPPER
    number = ->(name) { Library::HEADER.constant("SKV_#{name}") }

    LAYOUTS = { plain: number['LAYOUT_PLAIN'], hex: number['LAYOUT_HEX'] }.freeze
    KINDS = { key: number['KIND_KEY'], folder: number['KIND_FOLDER'] }.freeze
    KIND_NAMES = KINDS.invert.freeze
    CONDITIONS = { any: number['PUT_ANY'], absent: number['PUT_ABSENT'], expect: number['PUT_EXPECT'] }.freeze
    { IN_DOUBT: 'PUT_IN_DOUBT', NON_UNIQUE: 'PUT_NON_UNIQUE', KEEP_ENCRYPTED: 'PUT_KEEP_ENCRYPTED',
      LATEST: 'GET_LATEST', STORED: 'GET_STORED', NAMES: 'TREE_NAMES', ONE_LEVEL: 'TREE_ONE_LEVEL', COUNT: 'STAT_COUNT',
      UPPER: 'KEY_UPPER', PASSWORD_SET: 'PASSWORD_SET', PASSWORD_CHECK: 'PASSWORD_CHECK',
      DOUBLE_MAX: 'DOUBLE_MAX' }.each { |name, macro| const_set(name, number[macro]) }
    private_constant :LAYOUTS, :KINDS, :KIND_NAMES, :NAMES, :ONE_LEVEL, :COUNT, :PASSWORD_SET, :PASSWORD_CHECK, :UPPER,
                     :DOUBLE_MAX

    class << self
      def binding_name
        'ffi'
      end

      %i[abi version].each { |name| define_method(name) { Library.public_send(:"skv_#{name}") } }

      def status_name(number)
        Library.skv_status_name(number)&.force_encoding(Encoding::US_ASCII)
      end

      def key_check(key, upper)
        Calls.reply { |r| Library.skv_key_check(*Calls.bytes(key), upper ? UPPER : 0, r) }
        nil
      end

      # Those that take texts, and return the data of the reply.
      %i[key_join ldap_uris secret_make secret_crl secret_certificate].each do |name|
        define_method(name) do |*texts|
          arguments = texts.flat_map { |text| Calls.bytes(text) }
          Calls.reply(:data) { |r| Library.public_send(:"skv_#{name}", *arguments, r) }
        end
      end

      # @return [String, nil] the path of a key below a folder; nil for the folder itself, and for a key that
      #   {key_check} refuses or that is too long
      def path_below(folder, key, upper)
        key_check(key, upper)
        path = key_join(folder, key)
        path unless path == folder
      rescue InvalidError, TooLargeError
        nil
      end

      def dn_from_path(layout, kind, base_dn, id, path)
        layout = Calls.choice(:layout, LAYOUTS, layout)
        kind = Calls.choice(:kind, KINDS, kind)
        arguments = [base_dn, id, path].flat_map { |text| Calls.bytes(text) }
        Calls.reply(:data) { |r| Library.skv_dn_from_path(layout, kind, *arguments, r) }
      end

      def format_double(number)
        FFI::MemoryPointer.new(:char, DOUBLE_MAX) do |out|
          length = Library.skv_format_double(number, out)
          return length.zero? ? nil : out.read_string(length).force_encoding(Encoding::UTF_8)
        end
      end

      def document_same?(first, second)
        Calls.reply(:number) { |r| Library.skv_document_same(*Calls.bytes(first), *Calls.bytes(second), r) } == 1
      end

      def secret_name?(name, more = nil)
        Library.skv_is_secret_name(*Calls.bytes(name)) == 1 ||
          (!more.nil? && Library.skv_name_has_words(*Calls.bytes(name), *Calls.bytes(more)) == 1)
      end

      def parameter_check(name)
        Calls.reply { |r| Library.skv_parameter_check(*Calls.bytes(name), r) }
        nil
      end

      # @return [Array(String, Boolean)] the form, and whether it has a random salt
      def secret_form(secret, request)
        salted = nil
        arguments = [secret, request].flat_map { |text| Calls.bytes(text) }
        form = Calls.reply(:data) do |r|
          Library.skv_secret_form(*arguments, r).tap { salted = Library.skv_reply_number(r) == 1 }
        end
        [form, salted]
      end

      def generate(object)
        JsonWriter.generate(object)
      end

      def parse(document)
        JsonReader.parse(document)
      end

      def plain_document(document)
        bytes = Calls.bytes(document)
        Answer.take.document(*bytes) if [Encoding::UTF_8, Encoding::BINARY].include?(bytes.first.encoding)
      end

      # The options of each type of stores are a Hash{String => Array<Hash>}, as skv_options() describes them.
      %i[stats options].each do |name|
        define_method(name) { parse(Calls.reply(:data) { |r| Library.public_send(:"skv_#{name}", r) }) }
      end
    end

    # Inspection rules that the core has read. They never change, so that any number of threads may use them at once.
    class Rules
      include Handle

      MAX = Library::HEADER.constant('SKV_RULES_MAX')

      def initialize(json)
        hold(:skv_rules_free, 'the rules are read already') { |r| Library.skv_rules_new(*Calls.bytes(json), nil, r) }
      end

      def inspect_node(json)
        with_handle('no rules are read') do |rules|
          Calls.reply(:data) { |r| Library.skv_rules_inspect(rules, *Calls.bytes(json), nil, r) }
        end
      end
    end

    # A store of the core, for {Simpkv::Store}. Thread-safe.
    class Store
      # The format of a record in a page of a list: see skv_list_next() in simpkv.h.
      HEADER = 'aLL'
      HEADER_SIZE = 9
      PLACES = { 'k' => :keys, 'x' => :encrypted, 'e' => :errors }.freeze
      private_constant :HEADER, :HEADER_SIZE, :PLACES

      def initialize(type, options)
        raise InvalidError, 'the store is open already' if @store

        Calls.check(Hash, options)
        packed = Calls.packed(options.flat_map { |name, value| [name, value] }, 'an option')
        Calls.uninterrupted do
          @store = [Calls.handle(:skv_close) { |r| Library.skv_open(*Calls.bytes(type), *Calls.bytes(packed), r) }]
        end
      end

      # Makes a closed store: a copy would share the handle, which the original closes.
      def initialize_copy(_original)
        @store = []
      end

      def get(key, flags, timeout_ms)
        call(:skv_get, key, flags, timeout_ms, wanted: :data)
      end

      def get_decoded(folder, key, upper, timeout_ms)
        open_store { |store| Answer.take.get(store, folder, key, upper, timeout_ms) }
      end

      def kind(key, timeout_ms)
        KIND_NAMES[call(:skv_exists, key, timeout_ms, wanted: :number)]
      end

      def stat(key, count, timeout_ms)
        Native.parse(call(:skv_stat, key, count ? COUNT : 0, timeout_ms, wanted: :data))
      end

      def put(key, document, condition, expect, flags, timeout_ms)
        condition = Calls.choice(:condition, CONDITIONS, condition) | flags
        call(:skv_put, key, *Calls.bytes(document), condition, *expected(expect), timeout_ms, wanted: :number) == 1
      end

      %i[put_many get_many].each do |name|
        define_method(name) { |records, timeout_ms, &block| rounds(:"skv_#{name}", records, timeout_ms, block) }
      end

      def delete(key, expect, timeout_ms)
        condition = CONDITIONS[expect ? :expect : :any]
        call(:skv_delete, key, condition, *expected(expect), timeout_ms, wanted: :number) == 1
      end

      %i[deletetree create_folder delete_folder].each do |name|
        define_method(name) { |folder, timeout_ms| call(:"skv_#{name}", folder, timeout_ms, wanted: :number) == 1 }
      end

      def list(folder, cipher, timeout_ms, &block)
        records(:skv_list_open, folder, [timeout_ms], cipher, &block)
      end

      def tree(folder, values, cipher, timeout_ms, &block)
        records(:skv_tree_open, folder, [values ? 0 : NAMES, timeout_ms], cipher, &block)
      end

      def names(folder, timeout_ms)
        records(:skv_tree_open, folder, [NAMES | ONE_LEVEL, timeout_ms], nil)
      end

      # Yields lists of [kind, name, cookie] as skv_changes_next() has them; an empty one after `wait_ms` without a
      # change. An interrupt waits for the end of that time.
      def watch(folder, since, wait_ms, timeout_ms)
        arguments = [*Calls.bytes(folder), *expected(since), timeout_ms]
        open_store do |store|
          Calls.uninterrupted do
            changes = nil
            Calls.about(folder) { Calls.reply { |r| changes = Library.skv_changes_open(store, *arguments, nil, r) } }
            begin
              while (page = next_changes(changes, folder, wait_ms))
                Calls.interruptible { yield enum_for(:each_record, page).to_a }
              end
            ensure
              Library.skv_changes_close(changes)
            end
          end
        end
      end

      def read_entry(dn, attributes, timeout_ms)
        Native.parse(entry(:skv_entry_read, dn, texts(attributes), timeout_ms, wanted: :data))
      end

      def list_entries(dn, attributes, filter, timeout_ms)
        Native.parse(entry(:skv_entry_list, dn, texts(attributes), texts([*filter]), timeout_ms, wanted: :data))
      end

      def add_entry(dn, attributes, timeout_ms)
        Calls.check(Hash, attributes)
        pairs = attributes.flat_map do |name, values|
          Calls.check(Array, values)
          values.flat_map { |value| [name, value] }
        end
        entry(:skv_entry_add, dn, texts(pairs), timeout_ms)
        true
      rescue ExistsError
        false
      end

      # `changes` is a flat list of operations, attributes and values.
      def modify_entry(dn, changes, version, timeout_ms)
        entry(:skv_entry_modify, dn, texts(changes), version, timeout_ms)
        true
      rescue ConflictError
        false
      end

      def delete_entry(dn, version, timeout_ms)
        entry(:skv_entry_delete, dn, version, timeout_ms, wanted: :number) == 1
      end

      def set_password(dn, password, timeout_ms)
        entry(:skv_entry_password, dn, password, timeout_ms, flags: [PASSWORD_SET])
        nil
      end

      def check_password(dn, password, timeout_ms)
        entry(:skv_entry_password, dn, password, timeout_ms, flags: [PASSWORD_CHECK], wanted: :number) == 1
      end

      # Makes later calls raise. Calls under way end as usual. Does no I/O.
      def close
        @store&.clear
        nil
      end

      private

      # @param key [String, nil] which errors of the block name
      def open_store(key = nil)
        store = @store&.first
        raise InvalidError, 'the store is closed' unless store

        begin
          key ? Calls.about(key) { yield store } : yield(store)
        ensure
          # This reference keeps the garbage collector from closing the store during the call.
          store.address
        end
      end

      def expected(document)
        document ? Calls.bytes(document) : [nil, 0]
      end

      def call(function, key, *more, wanted: nil)
        arguments = [*Calls.bytes(key), *more]
        open_store(key) { |store| Calls.reply(wanted) { |r| Library.public_send(function, store, *arguments, nil, r) } }
      end

      # Yields the outcomes of each round to the block, which returns the records of the next round, or nil.
      def rounds(function, records, timeout_ms, block)
        open_store do |store|
          while records
            arguments = [*Calls.bytes(records), timeout_ms, nil]
            outcomes = Calls.reply(:data, many: true) { |r| Library.public_send(function, store, *arguments, r) }
            records = block.call(outcomes)
          end
        end
        nil
      end

      def entry(function, *strings, timeout_ms, flags: [], wanted: nil)
        arguments = strings.flat_map { |string| Calls.bytes(string) }
        open_store do |store|
          Calls.reply(wanted) { |r| Library.public_send(function, store, *arguments, *flags, timeout_ms, nil, r) }
        end
      end

      def texts(list)
        Calls.check(Array, list)
        Calls.packed(list, 'an attribute')
      end

      # Opens a list and reads it to its end. The last argument, timeout_ms, is for each page, too. `cipher` is nil, or
      # a list of a Keyring and the other arguments of its {Keyring#decrypt_page}. Errors of the block do not name the
      # folder.
      def records(function, folder, more, cipher, &block)
        arguments = [*Calls.bytes(folder), *more]
        Calls.check(Array, cipher) if cipher
        found = { keys: {}, folders: [], errors: {} }
        found[:encrypted] = {} if cipher
        open_store do |store|
          Calls.uninterrupted do
            list = nil
            Calls.about(folder) { Calls.reply { |r| list = Library.public_send(function, store, *arguments, nil, r) } }
            begin
              read(list, folder, arguments.last, cipher, found, &block)
            ensure
              Library.skv_list_close(list)
            end
          end
        end
        found
      end

      def read(list, folder, timeout_ms, cipher, found, &block)
        while (page = Calls.about(folder) { next_page(list, timeout_ms) })
          page = cipher.first.decrypt_page(page, *cipher.drop(1)) if cipher
          Calls.interruptible { unpack(page, found, &block) }
        end
      end

      def next_changes(changes, folder, wait_ms)
        Calls.about(folder) { Calls.reply(:data) { |r| Library.skv_changes_next(changes, wait_ms, nil, r) } }
      end

      # Returns nil after the last page.
      def next_page(list, timeout_ms)
        over = false
        page = Calls.reply(:data) { |r| over = Library.skv_list_next(list, timeout_ms, nil, r) == Calls::END_OF_LIST }
        page unless over
      end

      def unpack(page, found)
        each_record(page) do |kind, name, body|
          body = yield(name, body) if kind == 'k' && block_given?
          kind == 'f' ? found[:folders] << name : found.fetch(PLACES.fetch(kind))[name] = body
        end
      end

      def each_record(page)
        offset = 0
        while offset < page.bytesize
          kind, name_size, body_size = page.byteslice(offset, HEADER_SIZE).unpack(HEADER)
          name = page.byteslice(offset + HEADER_SIZE, name_size).freeze
          body = page.byteslice(offset + HEADER_SIZE + name_size, body_size)
          offset += HEADER_SIZE + name_size + body_size
          yield kind, name, body
        end
      end
    end
  end
end

require 'simpkv/native/answer'
require 'simpkv/native/audit_log'
require 'simpkv/native/keyring'
