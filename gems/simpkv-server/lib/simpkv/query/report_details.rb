# frozen_string_literal: true

require 'securerandom'
require 'simpkv/query/answer_writer'

module Simpkv
  module Query
    # Puts details of reports into an answer: logs, and the values of events, which the index does not have
    # (docs/adr/0113). A worker writes marks in their places, and the process that has asked it replaces these by what
    # it reads from the store. A mark begins with a secret of the question, so that no text in the index is one.
    class ReportDetails
      # What a mark can stand for: the list of lines, or a value of an event.
      KINDS = %w[logs old new].freeze
      # The members of a line of a log.
      LINE = %w[file line level message source tags time].freeze
      # Bytes that are read at once, and the number of marks for which the store is asked at once.
      CHUNK = 256 * 1024
      MARKS = 20
      # A place in an answer.
      Mark = Struct.new(:kind, :report, :token, :number)
      private_constant :LINE, :CHUNK, :MARKS, :Mark

      # @param secret [String] of the question
      # @param kind [String]
      # @param certname [String]
      # @param run [Integer]
      # @param token [String] see {Estate::ReportDetails}
      # @param number [Integer, nil] of the event
      # @return [String] a mark, a text in JSON. It has no comma
      def self.mark(secret, kind, certname, run, token, number)
        %("#{[secret, kind, certname.unpack1('H*'), run, token, number].join(':')}")
      end

      # @return [String] the one of the question
      attr_reader :secret

      # @param estate [Estate]
      # @param seconds [Numeric] in which an answer must be complete
      def initialize(estate, seconds)
        @estate = estate
        @secret = SecureRandom.hex(16)
        @secrets = Estate::ReportSecrets.new(estate.secret_names)
        @found = {}
        @deadline = Clock.now + seconds
      end

      # @param from [IO] an answer with marks, in JSON
      # @param target [IO]
      # @return [Integer] the number of bytes that were written
      # @raise [LimitError] it takes too long, or is too large
      # @raise [Simpkv::Error] the details cannot be read
      def fill(from, target)
        @bytes = 0
        pending = String.new
        while (part = from.read(CHUNK))
          pending << part
          comma = pending.rindex(',')
          write(pending.slice!(0..comma), target) if comma
        end
        write(pending, target)
        @bytes
      end

      private

      def write(text, target)
        text.split(/("#{@secret}:[^"]*")/n).each_slice(2 * MARKS) do |parts|
          marks = parts.map.with_index { |part, index| index.odd? ? mark(part) : nil }
          found = found(marks.compact)
          parts.zip(marks) { |part, mark| put(mark ? shown(mark, found[mark.report]) : part, target) }
        end
      end

      def put(text, target)
        @bytes += text.bytesize
        AnswerWriter.limit(@bytes)
        target.write(text)
      end

      def mark(text)
        _, kind, certname, run, token, number = text.delete('"').split(':', -1)
        certname = [certname].pack('H*').force_encoding(Encoding::UTF_8)
        Mark.new(kind, [certname, Integer(run, 10)], token, number.empty? ? nil : Integer(number, 10))
      end

      # @return [Hash{Array => Hash}] details by reports. The last ones are kept: an answer has the events of a report
      #   one after the other
      def found(marks)
        raise LimitError, "the request takes longer than the option 'query_seconds' allows" if Clock.now > @deadline

        tokens = marks.to_h { |mark| [mark.report, mark.token] }
        @found = @found.slice(*tokens.keys)
        lacking = tokens.reject { |report, _| @found.key?(report) }
        lacking = lacking.empty? ? {} : @estate.reports.details(lacking)
        @found.update(lacking)
      end

      # @param details [Hash, nil] nil for a report that another one has replaced since
      # @return [String] JSON
      def shown(mark, details)
        return 'null' unless details
        return Native.generate((details['logs'] || []).map { |line| line(line) }) if mark.kind == 'logs'

        values = (details['values'] || [])[mark.number]
        Native.generate(@secrets.values(values, false).to_h[mark.kind])
      end

      def line(line)
        LINE.to_h { |name| [name, nil] }.merge(@secrets.log(line).slice(*LINE))
      end
    end
  end
end
