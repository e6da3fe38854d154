# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/findings'
require 'simpkv/cli/other_user'

module Simpkv
  module Cli
    module Commands
      # Looks for what is wrong, and tells how to mend it.
      class Doctor < Command
        SUMMARY = 'look for what is wrong, and tell how to mend it'
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Looks at the configuration, the files that it names, the server, encryption, base entry, schema, rights, indexes
          and limits, and says of each what is wrong and how to mend it. Reads every key, and names those whose documents
          are empty or corrupt. Looks at a directory without binding, too, because nobody should read keys so. To see
          whether keys can be stored and large folders be listed, it stores keys in a folder of its own,
          globals/simpkv-doctor-..., and deletes it: one key in files, 500 in OpenLDAP, 5000 in 389-DS, or as --list-size
          says. --read-only stores nothing. If root runs it, it also checks that the user of puppetserver can read the
          files that the configuration names. Values are not printed. 69 when there is a problem.
        TEXT
        EXAMPLES = {
          'simpkv doctor' => 'The backend that functions use',
          'simpkv --from-puppet doctor -b directory --read-only' => 'Another one, as Hiera has it, storing nothing'
        }.freeze

        MARKS = { 'ok' => 'ok', 'problem' => 'PROBLEM', 'warning' => 'warning', 'unknown' => '?' }.freeze
        private_constant :MARKS

        def run
          findings = Findings.new
          examine(findings)
          output.print(findings.all.map { |finding| finding.to_h.transform_keys(&:to_s).compact }) { lines(findings) }
          Failure::UNAVAILABLE if findings.problems?
        end

        private

        def define(parser)
          parser.on('--read-only', 'store nothing') { @read_only = true }
          parser.on('--list-size N', Integer, 'how many keys a list is tried with') do |number|
            @size = number.clamp(1, 1_000_000)
          end
          parser.on('--user NAME', 'the user of puppetserver (puppet)') { |name| @user = name }
        end

        def examine(findings)
          user = other_user
          look_at_configuration(findings)
          kind = backend.ldap? ? 'directory' : 'file'
          require "simpkv/cli/#{kind}_examination"
          type = Cli.const_get("#{kind.capitalize}Examination")
          type.new(backend, findings, simpkv: command_line, write: !@read_only, size: @size,
                                      user: user).perform
        rescue Configuration::PluginType
          raise
        rescue ConfigError => e
          findings.problem('configuration', e.message, "correct #{configuration.source || 'the command line'}")
        end

        # @return [OtherUser, nil]
        # @raise [Failure] the command line names a user that is not there
        def other_user
          Etc.getpwnam(@user) if @user
          OtherUser.find(@user || 'puppet')
        rescue ArgumentError
          raise Failure.new("there is no user '#{@user}'", Failure::USAGE)
        end

        # @return [String] how this backend is chosen, for commands that are printed
        def command_line
          words = ['simpkv']
          words.push('-c', @flags[:config]) if @flags[:config]
          words.push('--from-puppet') if @flags[:from_puppet]
          words.push('--node', @flags[:node]) if @flags[:node]
          words.push('-b', @flags[:backend]) if @flags[:backend]
          words.push('--vardir', @flags[:vardir]) if @flags[:vardir]
          LdapAccess.shell(words)
        end

        def look_at_configuration(findings)
          refusal = configuration.refusal
          if refusal && @flags[:backend]
            findings.warning('configuration', "functions would refuse it: #{refusal}", 'for functions, correct that')
          elsif refusal
            findings.problem('configuration', refusal, "correct #{configuration.source || 'it'}")
          end
          (configuration.backend_names - [backend.name]).each { |name| look_at_options(name, findings) }
        end

        # Of backends that are not looked at further.
        def look_at_options(name, findings)
          configuration.backend(name)
        rescue Configuration::PluginType => e
          findings.unknown("backend '#{name}'", e.message)
        rescue ConfigError => e
          findings.problem("options of backend '#{name}'", e.message, "correct #{configuration.source}")
        end

        def lines(findings)
          findings.all.flat_map do |finding|
            head = "#{MARKS.fetch(finding.state).ljust(8)} #{finding.what}"
            ["#{head}#{": #{finding.why}" if finding.why}", *("#{' ' * 9}-> #{finding.fix}" if finding.fix)]
          end
        end
      end
    end
  end
end
