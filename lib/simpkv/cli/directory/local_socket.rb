# frozen_string_literal: true

require 'simpkv/cli/failure'

module Simpkv
  module Cli
    # What `ldapi:///` stands for. The tools of OpenLDAP take it for the socket whose path was compiled into libldap,
    # which no library function tells.
    module LocalSocket
      # Debian; the default below /run, as in Enterprise Linux; other builds for it.
      PATHS = %w[/run/slapd/ldapi /run/ldapi /run/openldap/ldapi /var/symas/run/ldapi].freeze

      NONE = "'ldapi:///' is the socket of slapd on this machine, and there is none at #{PATHS.join(', ')}: start " \
             "slapd, or name its socket with %2F for each '/', as in ldapi://%2Frun%2Fslapd%2Fldapi"
      private_constant :PATHS, :NONE

      # @param uri [String]
      # @return [String] the same with the path of the socket, if it has none
      # @raise [Failure] there is no such socket
      def self.named(uri)
        return uri unless uri.match?(%r{\Aldapi://(?:/|%2f)?\z}i)

        path = PATHS.find { |each| File.socket?(each) } || raise(Failure.new(NONE, Failure::CONFIG))
        "ldapi://#{path.gsub('/', '%2F')}"
      end
    end
  end
end
