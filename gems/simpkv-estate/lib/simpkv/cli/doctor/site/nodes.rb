# frozen_string_literal: true

require 'simpkv/cli/estate/configured_estate'
require 'simpkv/cli/doctor/documents_examination'
require 'simpkv/cli/doctor/puppet_examination'
require 'simpkv/cli/doctor/subject'
require 'simpkv/gems'

module Simpkv
  module Cli
    module Doctor
      module Site
        # Checks what keeps nodes in a store: the options of the estate, the settings of puppet.conf, the documents, and
        # all that the folder `cli/doctor/nodes` of any gem examines. Does nothing if no file and no document says that
        # nodes are kept.
        class Nodes
          # @param configuration [Configuration]
          # @param findings [Findings] to be filled
          # @param examined [ChosenBackend, nil] which has been examined; nil if its options are wrong
          # @param only [String, nil] the name of the only backend whose documents are examined
          # @param user [OtherUser, nil] another user that must be able to read the files
          # @yieldparam other [ChosenBackend, nil] one that has not been examined; nil for the other
          # @yieldreturn [String] the command line that chooses it, for printed commands
          def initialize(configuration, findings, examined, only: nil, user: nil, &command_line)
            @configuration = configuration
            @configured = ConfiguredEstate.new(configuration)
            @findings = findings
            @examined = examined
            @only = only
            @user = user
            @command_line = command_line
            @puppet = PuppetSettings.find(configuration.file)
          end

          # @return [void]
          def perform
            name = @configured.backend
            PuppetExamination.new(@puppet, @findings).perform if used?
            examine(backend(name)) if [nil, name].include?(@only)
          rescue ConfigError => e
            report(e.message)
          end

          private

          def backend(name)
            name == @examined&.name ? @examined : @configuration.backend(name)
          end

          # The examination of the backend may have reported the same.
          def report(why)
            return if @findings.all.any? { |finding| finding.why == why }

            @findings.problem('nodes', why, "correct #{@configuration.source || 'the command line'}")
          end

          def used?
            @configuration.site.key?('estate') || (!@puppet.nil? && @puppet.simpkv?)
          end

          def examine(backend)
            return unless kept_in?(backend)

            line = @command_line.call(backend.equal?(@examined) ? nil : backend)
            estate = @configured.in(backend)
            DocumentsExamination.new(estate, backend, @findings, simpkv: line).perform
            subject = Subject.new(estate, backend, @findings, line, @user, @puppet, @configuration)
            Gems.all('cli/doctor/nodes').each_value { |type| type.new(subject).perform }
          rescue Estate::MissingError => e
            @findings.problem('nodes', e.message, "#{line} init")
          rescue DeniedError => e
            # The identity of a compiler need not see all documents of the estate.
            @findings.unknown('nodes', "not examined: #{e.message}")
          rescue Simpkv::Error, SystemCallError, Failure => e
            return not_examined(e) if backend.equal?(@examined)

            @findings.problem('nodes', "#{backend.title}: #{e.message}",
                              "#{@command_line.call(backend)} doctor looks into it")
          end

          # The examination of the backend may have reported the same.
          def not_examined(error)
            return if @findings.problems?

            @findings.problem('nodes', error.message, 'restore what cannot be read from a backup, or delete it')
          end

          def kept_in?(backend)
            backend.there? && (used? || !backend.store.kind(Estate::FOLDER).nil?)
          rescue DeniedError
            false
          end
        end
      end
    end
  end
end
