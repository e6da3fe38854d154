# frozen_string_literal: true

require 'open3'

module Simpkv
  # Searches with ldapsearch, for what a store does not ask of a server: all entries below one, those that servers hide
  # included.
  module LdapSearch
    # Seconds for a whole command. The limits of ldapsearch begin anew with each byte that arrives.
    SECONDS = 120
    # The exit code of timeout(1).
    ENDED = 124
    # ldapsearch ends with the result code of the server.
    NO_SUCH_OBJECT = 32
    OPTIONS = %w[-s sub -l 60 -o nettimeout=10 -o ldif-wrap=no].freeze
    private_constant :SECONDS, :ENDED, :OPTIONS

    # @param settings [Hash{String => Object}] of a backend of type ldap; `base_dn` is the base of the search
    # @param search [Array<String>] further options, the filter and the attributes
    # @return [String] a command line
    def self.command(settings, search)
      LdapAccess.command(settings, OPTIONS + search)
    end

    # @param settings (see command)
    # @param search (see command)
    # @return [Array<Array(String, Array<Array(String, String)>)>] the DN of each entry, and its attributes with a value
    #   each; none if there is no such base
    # @raise [UnavailableError] ldapsearch is missing or failed
    def self.run(settings, search)
      text(settings, search, [NO_SUCH_OBJECT]).split(/\n{2,}/).map { |text| entry(text) }.compact
    end

    # @param settings (see command)
    # @param search (see command)
    # @param refusals [Array<Integer>] result codes that stand for no result
    # @return [String] what ldapsearch prints; '' for no result
    # @raise [UnavailableError] ldapsearch is missing or failed
    def self.text(settings, search, refusals)
      out, why, status = perform(command(settings, search))
      return '' if refusals.include?(status.exitstatus)
      raise UnavailableError, "ldapsearch failed: #{why.lines.last.to_s.strip}" unless status.success?

      out.force_encoding('UTF-8')
    end

    # Runs a command of the LDAP tools, and ends it if it takes too long.
    #
    # @param command [String]
    # @return [Array(String, String, Process::Status)] what it printed, its errors, and its status
    # @raise [UnavailableError] it has been ended
    def self.perform(command)
      Open3.capture3('timeout', SECONDS.to_s, 'sh', '-c', command).tap do |_, _, status|
        next unless status.exitstatus == ENDED

        raise UnavailableError, "#{command[/\bldap(?:search|delete)\b/]} failed: no whole answer within #{SECONDS} s"
      end
    end

    # @param text [String] LDIF of one entry; or the end of it
    # @return [Array, nil]
    def self.entry(text)
      lines = text.scan(/^([\w.;-]+):(:?) ?(.*)$/).map do |name, encoded, value|
        [name, encoded.empty? ? value : value.unpack1('m').force_encoding('UTF-8')]
      end
      name, dn = lines.shift
      [dn, lines] if name == 'dn'
    end
    private_class_method :entry
  end
end
