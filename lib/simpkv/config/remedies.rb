# frozen_string_literal: true

require 'simpkv/config/spelling'

module Simpkv
  # Says what to do about a wrong choice of backend. Each text is the end of a message whose beginning is older.
  module Remedies
    # How many names a text has at most.
    MOST = 10
    private_constant :MOST

    # @param name [String] of the chosen backend, which is missing or lacks `type` or `id`
    # @param backends [Hash{String => Object}] the options of each backend, by its name
    # @return [String]
    def self.of_backend(name, backends)
      return incomplete(name, backends[name]) if backends.key?(name)
      return "'backends' is empty: add a backend with 'type' and 'id'" if backends.empty?

      remedy = name == 'default' ? "set 'backend' to one of them" : 'correct the name'
      "'backends' has #{list(backends.keys)}: #{likely(name, backends.keys) || "#{remedy}, or add it"}"
    end

    # @param type [String] of a backend, for which there is no plugin
    # @param types [Array<String>]
    # @return [String]
    def self.of_type(type, types)
      remedy = likely(type, types) || 'correct it, or install the module with its plugin in this environment'
      "there are #{list(types)}: #{remedy}"
    end

    class << self
      private

      def incomplete(name, backend)
        return "'#{name}' of 'backends' must be a Hash with 'type' and 'id'" unless backend.is_a?(Hash)

        missing = %w[type id].select { |option| backend[option].nil? || backend[option] == '' }
        "it has no '#{missing.join("' and no '")}': add what is missing"
      end

      def likely(name, names)
        likely = Spelling.nearest(name, names.grep(String))
        "did you mean '#{likely}'?" if likely
      end

      def list(names)
        shown = names.first(MOST).map { |name| "'#{name}'" }
        shown << "#{names.length - MOST} more" if names.length > MOST
        shown.length > 1 ? "#{shown[0..-2].join(', ')} and #{shown.last}" : shown.first.to_s
      end
    end
  end
end
