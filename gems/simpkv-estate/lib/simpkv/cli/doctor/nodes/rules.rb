# frozen_string_literal: true

require 'shellwords'
require 'simpkv/cli/doctor/examination'
require 'simpkv/inspection'

module Simpkv
  module Cli
    module Doctor
      module Nodes
        # Checks the inspection rules of the estate, those of the store and those of the file of built-in ones. An
        # invalid rule fails the catalog of each node that is inspected.
        class Rules < Examination
          # @param subject [Subject]
          def initialize(subject)
            super(subject.backend, subject.findings, simpkv: subject.simpkv, user: subject.user)
            @estate = subject.estate
            @puppet = subject.puppet
          end

          # @return [void]
          # @raise [Simpkv::Error] the backend cannot be used
          def perform
            faults = []
            count = rules.each_fault { |what, why| faults << [what, why] }
            faults.first(NAMED).each { |what, why| findings.problem('rules', why, remedy(what)) }
            if faults.length > NAMED
              findings.problem('rules', "#{faults.length} such rules, of which #{NAMED} are named",
                               'repair each of them')
            end
            return if count.zero? && faults.empty?

            findings.ok('rules', Output.count(count, 'rule')) if faults.empty?
            look_at_terminus
            look_at_user if @user
          end

          private

          def rules
            Inspection::Rules.new(@estate, Inspection::ActionFiles.usual.names)
          end

          # @param what [String] see {Inspection::Rules#each_fault}
          def remedy(what)
            return removal(what) if what.start_with?(Estate::FOLDER)
            return "delete some of them: #{simpkv('rule', 'delete', 'ID')}" if what == 'all rules'
            return "correct the file of the option 'built_in'" unless what.match?(/\A\h{8}-/)

            "#{simpkv('rule', 'set', what)} or #{simpkv('rule', 'delete', what)}"
          end

          # The user of puppetserver may lack access to a file that root can read.
          def look_at_user
            file = @estate.options['inspection_rules']['built_in']
            obstacle = @user.obstacle(file) if file && File.exist?(file)
            return unless obstacle

            right = obstacle == file ? 'g+r' : 'g+x'
            findings.warning('rules', "'built_in' #{file} cannot be read by the user #{@user.name}",
                             "chgrp #{@user.group.shellescape} #{obstacle.shellescape} && " \
                             "chmod #{right} #{obstacle.shellescape}")
          end

          # The terminus of a program that compiles: a server, or puppet apply.
          def look_at_terminus
            sections = [PuppetSettings::SERVER, PuppetSettings::APPLY]
            return if @puppet.nil? || sections.any? { |names| @puppet['node_terminus', names] == 'simpkv' }

            findings.warning('rules', "node_terminus is not 'simpkv' in #{@puppet.file}, so the rules inspect no node",
                             "set 'node_terminus = simpkv' in the section [server]")
          end
        end
      end
    end
  end
end
