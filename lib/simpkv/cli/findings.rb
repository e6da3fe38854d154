# frozen_string_literal: true

module Simpkv
  module Cli
    # What an examination found, in its order. Each finding has a state: `ok`, `problem` (keys cannot be used as they
    # should), `warning` (they can, and it should not be left so), or `unknown` (it could not be looked at).
    class Findings
      # what:: what was looked at, a few words
      # why:: what was seen
      # fix:: what to do about it
      Finding = Struct.new(:state, :what, :why, :fix)

      # @return [Array<Finding>]
      attr_reader :all

      def initialize
        @all = []
      end

      # @return [true]
      def ok(what, why = nil)
        all << Finding.new('ok', what, why)
        true
      end

      # @return [false]
      def problem(what, why, fix)
        finding = Finding.new('problem', what, why, fix)
        all << finding unless all.include?(finding)
        false
      end

      # @return [true] it can go on
      def warning(what, why, fix)
        all << Finding.new('warning', what, why, fix)
        true
      end

      # @return [true] it can go on
      def unknown(what, why, fix = nil)
        all << Finding.new('unknown', what, why, fix)
        true
      end

      # @return [Boolean]
      def problems?
        all.any? { |finding| finding.state == 'problem' }
      end
    end
  end
end
