# frozen_string_literal: true

require 'simpkv/audit/line'
require 'simpkv/audit/log'

module Simpkv
  # The audit log of a backend, for {AuditedStore}.
  module Audit
    class << self
      # @return [String] the user of this process. The name service is asked once
      def user
        uid, name = @user
        return name if uid == Process.euid

        name = user_name(Process.euid)
        @user = [Process.euid, name].freeze
        name
      end

      # @param settings [Hash{String => Object}] the options of a backend: see {Config.typed}
      # @return [String] as which the process uses its store: the bind DN, or the local user
      def identity(settings)
        settings['type'] == 'ldap' && settings['admin_pw_file'] ? settings['admin_dn'] : user
      end

      # @return [String] the name of this machine
      def host
        require 'socket'
        Socket.gethostname
      end

      # @param uid [Integer]
      # @return [String] the name of a user; the number of one without a name
      def user_name(uid)
        require 'etc'
        Etc.getpwuid(uid).name
      rescue ArgumentError
        uid.to_s
      end
    end
  end
end
