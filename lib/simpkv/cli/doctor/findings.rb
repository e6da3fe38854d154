# frozen_string_literal: true

module Simpkv
  module Cli
    # The findings of an examination, in their order. The state of a finding is `ok`, `problem` (keys cannot be used),
    # `warning` (keys can be used, but something should be changed), or `unknown` (the check was impossible).
    class Findings
      # A state, the subject of the check in a few words, the observation, and the remedy.
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

      # @return [true] the next checks are possible
      def warning(what, why, fix)
        all << Finding.new('warning', what, why, fix)
        true
      end

      # @return [true] the next checks are possible
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
