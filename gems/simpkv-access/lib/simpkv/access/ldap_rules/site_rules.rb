# frozen_string_literal: true

require 'simpkv/access/names'

module Simpkv
  module Access
    # The rules of OpenLDAP that follow those of simpkv. They decide about all identities without a role, so one such as
    # Debian's `to * by * read` lets everybody read all keys.
    class SiteRules
      # A word of a rule, with its quoted parts.
      WORD = /(?:"(?:[^"\\]|\\.)*"|[^\s"])+/.freeze
      # The identities that anybody can have.
      ANYBODY = %w[* users anonymous].freeze
      # The levels that give nothing of a key away.
      CLOSED = /\A(?:none|disclose|auth|[=+-][0xd]*)\z/.freeze
      CONTROLS = %w[stop continue break].freeze
      # The targets that are a tree, which may have the keys.
      TREE = /\Adn\.(?:sub|subtree|children)="?(.*?)"?\z/m.freeze
      # The targets that may be anywhere.
      ANYWHERE = /\A(?:\*|attrs=|filter=|dn\.regex=)/.freeze
      private_constant :WORD, :ANYBODY, :CLOSED, :CONTROLS, :TREE, :ANYWHERE

      # @param values [Array<String>] of olcAccess, in their order, without those of simpkv
      # @param below [String] the DN of the instance, which has the keys
      def initialize(values, below)
        @values = values
        @below = ",#{Names.normalized(below)}"
      end

      # @return [String, nil] the first rule that lets anybody read, search or compare keys; nil if there is none, or
      #   if a rule before it closes the tree of the keys to all others
      def opening
        decisive = @values.find { |value| opens?(value) || closes?(value) }
        decisive if decisive && opens?(decisive)
      end

      private

      # @return [Array<Array<String>>] the words of the target, and of each clause: `by`, who, and perhaps a level and a
      #   control
      def parts(value)
        value.scan(WORD).drop(1).slice_before('by').to_a
      end

      def opens?(value)
        target, *clauses = parts(value)
        concerns?(target) && clauses.any? do |clause|
          level = (clause.drop(2) - CONTROLS).last
          anybody?(clause) && !level.nil? && !level.match?(CLOSED)
        end
      end

      # slapd looks at the next rules for a client with `break`.
      def closes?(value)
        target, *clauses = parts(value)
        covers?(target) && clauses.none? { |clause| anybody?(clause) && %w[break continue].include?(clause.last) }
      end

      def anybody?(clause)
        ANYBODY.include?(clause[1])
      end

      # @return [Boolean] whether the target may have a key's value
      def concerns?(target)
        attributes = target.find { |word| word.start_with?('attrs=') }
        return false unless attributes.nil? || attributes.match?(/simpkvJsonValue|[@!]/i)

        first = target.first
        tree = first[TREE, 1]
        tree ? above?(tree) || inside?(tree) : first.match?(ANYWHERE)
      end

      # @return [Boolean] whether the target has each key, and all of it
      def covers?(target)
        target.length == 1 && (target.first == '*' || above?(target.first[TREE, 1].to_s))
      end

      def above?(tree)
        !tree.empty? && @below.end_with?(",#{Names.normalized(tree)}")
      end

      def inside?(tree)
        ",#{Names.normalized(tree)}".end_with?(@below)
      end
    end
  end
end
