# frozen_string_literal: true

module Simpkv
  class Adapter
    # Checks the results of third-party plugins. docs/plugin-development.md describes them.
    module PluginResults
      # @param operation [Symbol] a method of a plugin
      # @param result [Object] its `result:`
      # @return [Boolean]
      def self.valid?(operation, result)
        return true if result == false && none?(operation)

        case operation
        when :exists, :put_new, :exchange then result == true
        when :get, :fetch, :fetch_latest then result.is_a?(String)
        when :get_many, :put_many then result.is_a?(Hash)
        when /\A(list|tree)/ then listing?(operation, result)
        else result
        end
      end

      # Returns true if false is a valid result: the operation did nothing, or found nothing.
      def self.none?(operation)
        %i[exists put_new exchange fetch fetch_latest list_present tree_present].include?(operation)
      end

      def self.listing?(operation, result)
        return false unless result.is_a?(Hash) && result[:keys].is_a?(Hash) && result[:folders].is_a?(Array)

        reasons?(result.fetch(:errors) { {} }) && names?(operation, [*result[:keys].keys, *result[:folders]])
      end

      def self.reasons?(errors)
        errors.is_a?(Hash) && errors.all? { |name, why| name.is_a?(String) && why.is_a?(String) }
      end

      # Other names would denote the folder itself, or another one.
      def self.names?(operation, names)
        names.all? do |name|
          next false if !name.is_a?(String) || name.empty?

          %i[tree tree_present].include?(operation) ? !"/#{name}/".include?('//') : !name.include?('/')
        end
      end
      private_class_method :none?, :listing?, :reasons?, :names?
    end
  end
end
