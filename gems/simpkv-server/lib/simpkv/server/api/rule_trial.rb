# frozen_string_literal: true

require 'simpkv/server/application'

module Simpkv
  module Server
    module Api
      # The body of a request for a test of rules that are not stored.
      class RuleTrial
        # The members, and what they are.
        MEMBERS = { 'facts' => Hash, 'rules' => Array, 'record' => Hash, 'name' => String }.freeze
        private_constant :MEMBERS

        # @return [Hash]
        attr_reader :facts

        # @return [Hash, nil] the declared record
        attr_reader :record

        # @return [String] the certname
        attr_reader :name

        # @param data [Hash]
        # @raise [Problem] a member is unknown, missing, or of another type
        def initialize(data)
          unknown = (data.keys - MEMBERS.keys).first
          raise Problem.new(400, "unknown member '#{unknown}': it has #{MEMBERS.keys.join(', ')}") if unknown

          @given = data.compact
          check
          @facts, @record, name = @given.values_at('facts', 'record', 'name')
          @name = name || Inspection::GivenFacts.certname(facts)
        end

        # @return [Array]
        def rules
          @given.fetch('rules', [])
        end

        private

        def check
          wrong = MEMBERS.keys.find { |name| @given.key?(name) && !@given[name].is_a?(MEMBERS[name]) }
          wrong ||= 'facts' unless @given.key?('facts')
          raise Problem.new(400, "'#{wrong}' must be #{Application::TYPES.fetch(MEMBERS.fetch(wrong))}") if wrong
        end
      end
    end
  end
end
