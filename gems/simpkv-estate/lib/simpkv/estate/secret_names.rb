# frozen_string_literal: true

module Simpkv
  class Estate
    # Tells what holds a secret by its name, such as `db_password`: a fact, a parameter, or a member of one. The option
    # `secret_names` adds names of a site to those that the core knows.
    class SecretNames
      # The replacement of a hidden value.
      REDACTED = '[redacted]'

      # @param more [Array<String>] the option
      def initialize(more = [])
        @more = more.join("\n").freeze
      end

      # @return [String] the names that the site adds, one a line, as the core reads them
      attr_reader :more

      # @param name [String]
      # @return [Boolean]
      def include?(name)
        Native.secret_name?(name, @more)
      end

      # Without names of a site.
      USUAL = new.freeze
    end
  end
end
