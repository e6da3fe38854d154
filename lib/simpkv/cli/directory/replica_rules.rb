# frozen_string_literal: true

module Simpkv
  module Cli
    # The rule and the limits that let replicas of OpenLDAP read a database, for the files of {DirectorySetup}.
    class ReplicaRules
      COMMENT = '# Lets replicas read the whole database, with the passwords of the identities that bind to them.'
      # The limits of simpkv's bind DN.
      LIMITS = /^(?:limits|olcLimits: \{0\}).*\n/.freeze
      private_constant :COMMENT, :LIMITS

      # @param names [Array<String>] the bind DNs of replicas, with the escapes that the files need between quotes
      def initialize(names)
        @names = names.map { |name| %(dn.exact="#{name}") }
      end

      # slapd stops at the first rule that matches, so the rule for replicas is the first one. That rule sends all other
      # identities on to the next rules.
      #
      # @param text [String] for slapd.conf or cn=config
      # @return [String] the same with the rule in front of its rules, and the limits after its limits
      def add_to(text)
        return text if @names.empty?

        rule = "to * #{@names.map { |name| "by #{name} read" }.join(' ')} by * break"
        text = text.gsub(/^(olcAccess: )\{(\d+)\}/) { "#{Regexp.last_match(1)}{#{Regexp.last_match(2).to_i + 1}}" }
                   .sub(/^olcAccess: /) { |name| "#{name}{0}#{rule}\n#{name}" }
                   .sub(/^access to /) { |name| "#{COMMENT}\naccess #{rule}\n\n#{name}" }
        text.sub(LIMITS) { |line| line + limits(line.start_with?('olc')) }
      end

      private

      # A replica reads all entries with one search.
      def limits(numbered)
        @names.each.with_index(1).map do |name, number|
          "#{numbered ? "olcLimits: {#{number}}" : 'limits '}#{name} size=unlimited time=unlimited\n"
        end.join
      end
    end
  end
end
