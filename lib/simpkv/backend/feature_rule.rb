# frozen_string_literal: true

module Simpkv
  # Whom an ACI of 389-DS lets use a feature of the server.
  module FeatureRule
    # Everybody who binds, or everybody.
    ANYBODY = %r{\ballow\b[^;]*ldap:///(?:all|anyone)\b}i.freeze

    TITLE = /\bacl\s*"[^"]*"/i.freeze
    PERMISSION = /\ballow\s*\([^)]*\)([^;]*);/i.freeze
    DN = %r{\s*ldap:///[^"*?$|=]+=[^"*?$|]*}i.freeze
    NAMES = /\b(?:user|group|role)dn\s*=\s*"#{DN}(?:\|\|#{DN})*"/i.freeze
    BETWEEN = /\A(?:\b(?:and|or)\b|[\s()])*\z/i.freeze
    private_constant :ANYBODY, :TITLE, :PERMISSION, :DN, :NAMES, :BETWEEN

    # @param rule [String] a value of `aci`
    # @return [Boolean] whether it names everybody explicitly
    def self.for_anybody?(rule)
      rule.match?(ANYBODY)
    end

    # @param rule [String] a value of `aci`
    # @return [Boolean] whether it lets in only users, groups and roles by their DNs. Any other condition, such as
    #   `userdn != "..."`, an address, a pattern or a filter, may hold for everybody.
    def self.for_names?(rule)
      text = rule.sub(TITLE, '')
      permitted = text.scan(PERMISSION).flatten
      permitted.length == text.scan(/\ballow\b/i).length &&
        permitted.all? { |who| who.match?(NAMES) && who.gsub(NAMES, '').match?(BETWEEN) }
    end
  end
end
