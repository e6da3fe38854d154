# frozen_string_literal: true

require 'open3'

module Simpkv
  module Cli
    # The entries that replication of 389-DS left behind. If two suppliers add an entry of one name at once, both keep
    # one of the two under its name. The other gets a name of its own, and no search shows it that does not ask for it.
    class ConflictEntries
      FILTER = '(&(nsds5ReplConflict=*)(|(objectClass=*)(objectClass=ldapSubEntry)))'
      private_constant :FILTER

      # @param settings [Hash{String => Object}] of a backend of type ldap
      def initialize(settings)
        @settings = settings
      end

      # @return [Array<String>] their DNs, below the base entry, the outermost first
      # @raise [UnavailableError] ldapsearch is missing or failed
      def names
        out, why, status = Open3.capture3('sh', '-c', command)
        raise UnavailableError, why.lines.last.to_s.strip unless status.success?

        out.scan(/^dn(::?) (.*)/).map do |colons, name|
          colons == ':' ? name : name.unpack1('m').force_encoding('UTF-8')
        end
           .sort_by(&:length)
      end

      # @return [String] the command line that lists them
      def command
        LdapAccess.command(@settings, %w[-s sub -l 60 -o nettimeout=10 -o ldif-wrap=no] + [FILTER, '1.1'])
      end

      # @param name [String] a DN
      # @return [String] the command line that deletes it and what is below it
      def deletion(name)
        LdapAccess.deletion(@settings, name)
      end
    end
  end
end
