# frozen_string_literal: true

module Simpkv
  class Estate
    # Replaces the passwords of URLs in texts: `postgres://user:...@host`. JSON may have a backslash before each slash.
    #
    # The time is linear in the length of the text.
    module UrlPasswords
      # The parts of a text that may have a URL.
      PART = /[^\s"<>]++/.freeze
      SLASHES = %r{:(?://|\\/\\/)}.freeze
      # The user in a URL, before the password. A port is none.
      USER = %r{(?<=://|:\\/\\/)[^/?#@:\[]*+:(?!\d{1,5}(?:[/?#,;'`)\\]|\z))}.freeze
      private_constant :PART, :SLASHES, :USER

      # @param text [String]
      # @param replacement [String, nil]
      # @return [String] a copy without passwords
      def self.replace(text, replacement)
        return text unless text.include?('@') && text.match?(SLASHES)

        text.gsub(PART) { |part| replace_in(part, replacement) }
      end

      # A password may have any character, also @: the last one ends it.
      def self.replace_in(part, replacement)
        last = part.rindex('@')
        start = last && part.match?(SLASHES) && part.match(USER)&.end(0)
        start && start < last ? "#{part[0...start]}#{replacement}#{part[last..]}" : part
      end
      private_class_method :replace_in
    end
    private_constant :UrlPasswords
  end
end
