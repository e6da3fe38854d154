# frozen_string_literal: true

module Simpkv
  # Many records, packed for skv_put_many() and skv_get_many() of simpkv.h in rounds that bound memory, and their
  # results.
  class Batch
    # Records in a round, and bytes after which no further one is added.
    RECORDS_MAX = 500
    BYTES_MAX = 4 << 20

    # The result of a record: number, status, length of the text.
    ANSWER = 'clL'
    ANSWER_SIZE = 9

    # A record: its texts (key, document, expected document; or the key alone), and its condition in simpkv.h.
    Record = Struct.new(:texts, :condition)
    private_constant :RECORDS_MAX, :BYTES_MAX, :ANSWER, :ANSWER_SIZE, :Record

    class << self
      # @param keys [Array<String>]
      def of_keys(keys)
        new(keys.map { |key| Record.new([key]) })
      end

      # The parameters are those of {Store#put_many}.
      def of_documents(documents, condition, expect, keep_encrypted)
        check(documents, condition, expect)
        flags = keep_encrypted ? Native::KEEP_ENCRYPTED : 0
        new(documents.map do |key, document|
          old = expect[key] if expect
          number = Native::CONDITIONS[expect && old.nil? ? :absent : condition]
          Record.new([key, document, old || ''], number | flags)
        end)
      end

      # Checks the arguments of {Store#put_many}.
      #
      # @return [void]
      # @raise [ArgumentError]
      def check(documents, condition, expect)
        raise ArgumentError, 'condition is :any or :absent or :expect' unless Native::CONDITIONS.key?(condition)
        raise ArgumentError, 'expect comes with the condition :expect, and only then' if
          expect.nil? == (condition == :expect)

        missing = (documents.keys - expect.keys).first if expect
        return unless missing

        raise ArgumentError, "expect lacks '#{missing}': give the document that must be stored now, or nil if the " \
                             'key must not exist'
      end
    end

    def initialize(records)
      records.each { |record| record.texts.map! { |text| string(text) } }
      @results = records.to_h { |record| [record.texts.first, nil] }
      @rounds = slices(records)
    end

    # @return [Hash{String => Boolean, Error}]
    def put(native, timeout_ms)
      native.put_many(pack_next || '', timeout_ms) do |answer|
        take(answer) { |number, _text| number == 1 }
        pack_next
      end
      @results
    end

    # @return [Hash{String => String, Error}]
    def get(native, timeout_ms)
      native.get_many(pack_next || '', timeout_ms) do |answer|
        take(answer) { |_number, text| text }
        pack_next
      end
      @results
    end

    private

    def string(object)
      String.try_convert(object) || raise(TypeError, "no implicit conversion of #{object.class} into String")
    end

    def slices(records)
      bytes = count = 0
      slices = records.slice_when do |record, _|
        bytes += record.texts.sum(&:bytesize)
        count += 1
        full = bytes > BYTES_MAX || count == RECORDS_MAX
        bytes = count = 0 if full
        full
      end
      slices.to_a
    end

    # The next round's records, packed; nil after the last.
    def pack_next
      @round = @rounds.shift
      @round&.each_with_object(String.new) do |record, packed|
        packed << [*record.texts.map(&:bytesize), *record.condition].pack('L*')
        record.texts.each { |text| packed << text.b }
      end
    end

    # Keeps the result of each record of the round. The records that an interrupt has left go into the next round.
    def take(answer)
      left = []
      each_answer(answer) do |record, number, status, text|
        if status == 'interrupted'
          record.condition |= Native::IN_DOUBT if number == 1
          left << record
        else
          key = record.texts.first
          @results[key] = status == 'ok' ? yield(number, text) : Error.for(status).new(text).about(key)
        end
      end
      @rounds.unshift(left) unless left.empty?
    end

    def each_answer(answer)
      offset = 0
      @round&.each do |record|
        number, status, size = answer.byteslice(offset, ANSWER_SIZE).unpack(ANSWER)
        text = answer.byteslice(offset + ANSWER_SIZE, size).force_encoding(Encoding::UTF_8)
        offset += ANSWER_SIZE + size
        yield record, number, Native.status_name(status), text
      end
    end
  end
  private_constant :Batch
end
