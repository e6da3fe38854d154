# frozen_string_literal: true

module Simpkv
  # Finds Puppet's data folders in its configuration files, for programs that are not Puppet.
  module Vardirs
    # The defaults of puppetserver, in Puppet's own packages and in Debian's.
    SERVER = %w[/opt/puppetlabs/server/data/puppetserver /var/lib/puppetserver].freeze

    # The defaults of `puppet agent` and `puppet apply` for root.
    AGENT = %w[/opt/puppetlabs/puppet/cache /var/cache/puppet].freeze

    # The places of configuration files, in the same order.
    CONFIGURATIONS = [
      { server: '/etc/puppetlabs/puppetserver/conf.d/*.conf', puppet: '/etc/puppetlabs/puppet/puppet.conf' },
      { server: '/etc/puppet/puppetserver/conf.d/*.conf', puppet: '/etc/puppet/puppet.conf' }
    ].freeze

    SETTING = /(?:\A|[\s{,."])(?:server|master)-var-dir"?\s*[:=]\s*"?([^"\s,}#]+)/.freeze
    private_constant :SERVER, :AGENT, :CONFIGURATIONS, :SETTING

    class << self
      # Called inside Puppet. Outside puppetserver, the store of puppetserver counts as well: `puppet apply` must not
      # make an empty one beside it.
      #
      # @return [Array(Array<String>, Array<String>)] `vardirs` and `more` of {DefaultRoot}
      def of_puppet
        [[Puppet[:vardir]], Puppet.run_mode.server? ? [] : server]
      end

      # @return [Array<String>] the vardirs that puppetserver uses: `server-var-dir` of puppetserver.conf, else `vardir`
      #   of the section `server` in puppet.conf, else the packages' defaults
      def server
        configured = CONFIGURATIONS.flat_map do |files|
          vardirs = Dir.glob(files[:server]).sort.flat_map { |file| settings(file) }
          vardirs.empty? ? sections(files[:puppet]) : vardirs
        end
        configured = configured.select { |folder| folder.start_with?('/') }
        configured.empty? ? SERVER : configured.uniq
      end

      # @return [Array<String>] the vardirs of all parts of Puppet that this user can run; the server's are first
      def all
        [*server, *AGENT, *home].uniq
      end

      private

      # Root and the user puppet use the folders of the system.
      def home
        Process.euid.zero? ? [] : [File.join(Dir.home, '.puppetlabs/opt/puppet/cache')]
      rescue ArgumentError
        [] # A user without a home.
      end

      def settings(file)
        lines(file).map { |line| line.sub(%r{(?:#|//).*}, '')[SETTING, 1] }.compact
      end

      def sections(file)
        section = nil
        lines(file).map do |line|
          section = line[/\A\s*\[(\w+)\]/, 1] || section
          line[/\A\s*vardir\s*=\s*([^\s#]+)/, 1] if %w[server master].include?(section)
        end.compact
      end

      # A missing or unreadable file has no lines.
      def lines(file)
        File.readlines(file, encoding: 'UTF-8').map(&:scrub)
      rescue SystemCallError
        []
      end
    end
  end
end
