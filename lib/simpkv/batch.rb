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

    # The records of one call; whether an earlier call may have written them.
    Round = Struct.new(:records, :in_doubt)
    private_constant :RECORDS_MAX, :BYTES_MAX, :ANSWER, :ANSWER_SIZE, :Round

    # @param records [Array<Array<String>>] keys, each with its document if that is to be written
    def initialize(records)
      records = records.map { |record| record.map { |text| string(text) } }
      @results = records.to_h { |key, _| [key, nil] }
      @rounds = slices(records).map { |slice| Round.new(slice, false) }
    end

    # @return [Hash{String => Boolean, Error}]
    def put(native, condition, timeout_ms)
      native.put_many(pack_next || '', condition, timeout_ms) do |answer|
        take(answer) { |number, _text| number == 1 }
        following
      end
      @results
    end

    # @return [Hash{String => String, Error}]
    def get(native, timeout_ms)
      native.get_many(pack_next || '', timeout_ms) do |answer|
        take(answer) { |_number, text| text }
        following
      end
      @results
    end

    private

    def string(object)
      String.try_convert(object) || raise(TypeError, "no implicit conversion of #{object.class} into String")
    end

    def slices(records)
      bytes = count = 0
      records.slice_when do |record, _|
        bytes += record.sum(&:bytesize)
        count += 1
        full = bytes > BYTES_MAX || count == RECORDS_MAX
        bytes = count = 0 if full
        full
      end
    end

    # The next round's records, packed; nil after the last.
    def pack_next
      @round = @rounds.shift
      @round&.records&.each_with_object(String.new) do |record, packed|
        packed << record.map(&:bytesize).pack('L*')
        record.each { |text| packed << text.b }
      end
    end

    # @return [Array(String, Boolean), nil] the next round for the binding
    def following
      packed = pack_next
      [packed, @round.in_doubt] if packed
    end

    # Keeps the result of each record of the round. The records that an interrupt has left go into further rounds.
    def take(answer)
      left = Hash.new { |rounds, in_doubt| rounds[in_doubt] = Round.new([], in_doubt) }
      each_answer(answer) do |record, number, status, text|
        if status == 'interrupted'
          left[number == 1].records << record
        else
          @results[record.first] = status == 'ok' ? yield(number, text) : Error.for(status).new(text)
        end
      end
      @rounds.unshift(*left.values)
    end

    def each_answer(answer)
      offset = 0
      @round&.records&.each do |record|
        number, status, size = answer.byteslice(offset, ANSWER_SIZE).unpack(ANSWER)
        text = answer.byteslice(offset + ANSWER_SIZE, size).force_encoding(Encoding::UTF_8)
        offset += ANSWER_SIZE + size
        yield record, number, Native.status_name(status), text
      end
    end
  end
  private_constant :Batch
end
