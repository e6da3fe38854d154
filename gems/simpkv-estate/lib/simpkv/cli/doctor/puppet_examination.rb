# frozen_string_literal: true

require 'simpkv/cli/doctor/puppet_settings'
require 'simpkv/cli/doctor/routes_examination'

module Simpkv
  module Cli
    # Checks the settings of puppet.conf that make a server keep nodes in the store.
    class PuppetExamination
      SECTION = 'in the section [server]'
      private_constant :SECTION

      # @param puppet [PuppetSettings, nil] nil if there is no puppet.conf that this user can read
      # @param findings [Findings] to be filled
      def initialize(puppet, findings)
        @puppet = puppet
        @findings = findings
      end

      # @return [void]
      def perform
        return @findings.unknown('puppet.conf', 'there is none that this user can read') unless @puppet

        RoutesExamination.new(@puppet, @findings).perform
        sections = [PuppetSettings::SERVER, PuppetSettings::APPLY].find { |names| @puppet.storeconfigs?(names) }
        return report_storeconfigs unless sections

        @findings.ok('storeconfigs', "simpkv, by #{@puppet.file}")
        look_at_agents
        look_at_reports(sections)
      end

      private

      def report_storeconfigs
        backend = @puppet.storeconfigs_backend
        why = @puppet.true?('storeconfigs') ? "storeconfigs_backend is '#{backend}'" : 'storeconfigs is not set'
        # Another machine may be the server, or PuppetDB may keep exported resources.
        state = backend == 'simpkv' ? :problem : :warning
        @findings.public_send(state, 'storeconfigs',
                              "#{why} for servers in #{@puppet.file}: exported resources are not kept here",
                              "set 'storeconfigs = true' and 'storeconfigs_backend = simpkv' #{SECTION}")
      end

      # With storeconfigs, an agent uses the store as the cache of its facts and of its catalog.
      def look_at_agents
        return unless @puppet.true?('storeconfigs', PuppetSettings::AGENT)

        @findings.warning('storeconfigs', "agents read it too in #{@puppet.file}, and each would try to store its " \
                                          'facts and its catalog',
                          "set 'storeconfigs' and 'storeconfigs_backend' #{SECTION}; for puppet apply, in [user]")
      end

      def look_at_reports(sections)
        reports = @puppet.reports(sections)
        return @findings.ok('reports', 'simpkv') if reports.include?('simpkv')

        @findings.warning('reports', "reports is '#{reports.join(', ')}' in #{@puppet.file}: nodes have no status, " \
                                     'and no reports are kept',
                          "set 'reports = #{['simpkv', *reports].join(',')}' in the section [#{sections.first}]")
      end
    end
  end
end
