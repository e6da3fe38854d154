# frozen_string_literal: true

module Simpkv
  module Inspection
    # Facts that somebody gives, as `facter --json`, `puppet facts` or `simpkv node facts NODE -o json` print them.
    module GivenFacts
      # Where facts have the name of their node, the best place first.
      NAMES = [%w[trusted certname], %w[networking fqdn], %w[networking hostname]].freeze
      private_constant :NAMES

      class << self
        # @param data [Object] plain data, of YAML or JSON
        # @return [Hash{String => Object}, nil] the facts; nil if these are none
        def of(data)
          data = data['values'] if data.is_a?(Hash) && data.key?('name') && data['values'].is_a?(Hash)
          named(data) if data.is_a?(Hash)
        end

        # @param facts [Hash{String => Object}]
        # @return [String] the name of the node, or `node`
        def certname(facts)
          NAMES.map { |outer, inner| facts[outer][inner] if facts[outer].is_a?(Hash) }.grep(String).first || 'node'
        end

        private

        # @return [Object] the same with texts as names, as facts have them: YAML reads some as numbers
        def named(data)
          case data
          when Hash then data.to_h { |name, value| [name.to_s, named(value)] }
          when Array then data.map { |value| named(value) }
          else data
          end
        end
      end
    end
  end
end
