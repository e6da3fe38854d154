# frozen_string_literal: true

require 'etc'
require 'simpkv/cli/command'
require 'simpkv/cli/doctor/findings'
require 'simpkv/cli/doctor/hiera_examination'
require 'simpkv/cli/doctor/other_user'

module Simpkv
  module Cli
    module Commands
      # Finds problems and prints their remedies.
      class Doctor < Command
        SECTION = :storage
        SUMMARY = 'find problems and print their remedies'
        ARGUMENTS = '[FOLDER]'
        DESCRIPTION = <<~TEXT
          Checks a backend, and describes each problem and its remedy. It prints no values, and exits with 69 if there
          is a problem.

          It checks the configuration, the files that it names, the server, encryption, the base entry, the schema,
          rights, indexes and limits. It reads every key, names those with empty or corrupt documents, and counts those
          that have expired. It also reads the directory without binding, because anonymous clients should see no keys.

          To check that keys can be stored and large folders listed, it stores keys in a folder of its own,
          globals/simpkv-doctor-..., and deletes them: one key in files, 501 in OpenLDAP, 5001 in 389-DS, or the number
          of --list-size. With --read-only it stores nothing. With FOLDER, it does all this in that folder. For an
          identity that sees only the folders of its roles (simpkv access), name one of them, or its environment with
          -e. If root runs it, it also checks that the user of puppetserver can read the files that the configuration
          names.

          In a directory, it names the entries among the keys that simpkv does not make, such as an account or a
          referral, and the command that deletes each (with ldapsearch). If the directory has several servers, it
          compares the keys of each with those of the server for writes, and reads all documents of each for that. On
          389-DS, it names the entries that replication left behind after two suppliers had added one key at once (with
          ldapsearch).

          In an encrypted backend, it counts plain documents, documents of old or missing keys, and keys that no
          document needs.

          If nodes are kept in the store, it checks the settings of puppet.conf and the routes of routes.yaml for that,
          and whether the documents of nodes agree with each other, and reads all inspection rules as the compiler does.
          If compilers store counters (compiler_counters), it compares their files of keys by fingerprint. If there is
          an index of queries (docs/query.md), it compares that with the documents.

          In the Hiera data of all environments, it looks for misspelt names of simpkv::options, which nothing reads.
        TEXT
        EXAMPLES = {
          'simpkv doctor' => 'The backend that functions use',
          'simpkv doctor -e dev app1' => 'As an identity with rights on that folder',
          'simpkv --from-puppet doctor -b directory --read-only' => 'Another backend, as Hiera has it; stores nothing'
        }.freeze

        MARKS = { 'ok' => 'ok', 'problem' => 'PROBLEM', 'warning' => 'warning', 'unknown' => '?' }.freeze
        private_constant :MARKS

        def run(folder = nil)
          @folder = folder
          findings = Findings.new
          examine(findings)
          examine_site(findings)
          HieraExamination.new(PuppetSettings.all(configuration.file), findings).perform
          output.print(findings.all.map { |finding| finding.to_h.transform_keys(&:to_s).compact }) { lines(findings) }
          Failure::UNAVAILABLE if findings.problems?
        end

        private

        def define(parser)
          parser.on('--read-only', 'store nothing') { @read_only = true }
          parser.on('--list-size N', Integer, 'the number of keys for the check of lists') do |number|
            @size = number.clamp(1, 1_000_000)
          end
          parser.on('--user NAME', 'the user of puppetserver (puppet)') { |name| @user = name }
        end

        def examine(findings)
          look_at_configuration(findings)
          options = { simpkv: command_line, user: other_user, folder: @folder && backend.path(@folder) }
          encryption = encryption_of(findings, options)
          return if encryption && !encryption.keys?

          store_of(findings, options).perform
          encryption&.perform
        rescue Configuration::PluginType
          raise
        rescue ConfigError => e
          findings.problem('configuration', e.message, "correct #{configuration.source || 'the command line'}")
        end

        # @return [FileExamination, DirectoryExamination]
        def store_of(findings, options)
          kind = backend.ldap? ? 'directory' : 'file'
          require "simpkv/cli/doctor/#{kind}_examination"
          type = Cli.const_get("#{kind.capitalize}Examination")
          type.new(backend.examined, findings, write: !@read_only, size: @size, **options)
        end

        # @return [EncryptionExamination, nil]
        def encryption_of(findings, options)
          return unless backend.encrypted?

          require 'simpkv/cli/doctor/encryption_examination'
          EncryptionExamination.new(configuration, backend, findings, **options)
        end

        # Examines what else the file of options configures, maybe in another backend.
        def examine_site(findings)
          return if @flags[:from_puppet]

          look_at_sections(findings)
          Gems.all('cli/doctor/site').each_value do |type|
            only = { only: @flags[:backend], user: other_user }
            examination = type.new(configuration, findings, @backend, **only) do |other|
              other ? command_line({ config: '-c', vardir: '--vardir' }, ['-b', other.name]) : command_line
            end
            examination.perform
          end
        end

        def look_at_sections(findings)
          Config::Sections.demand_of(configuration.site)
        rescue Gems::MissingError => e
          findings.problem('configuration', e.message, 'install the gem, or leave the section out')
        end

        # @return [OtherUser, nil]
        # @raise [Failure] the user of the command line does not exist
        def other_user
          Etc.getpwnam(@user) if @user
          OtherUser.find(@user || 'puppet')
        rescue ArgumentError
          raise Failure.new("there is no user '#{@user}'", Failure::USAGE)
        end

        # @param more [Array<String>] further options
        # @return [String] the command line that chooses this backend, for printed commands
        def command_line(options = { config: '-c', node: '--node', backend: '-b', vardir: '--vardir' }, more = [])
          words = options.select { |name, _| @flags[name] }.flat_map { |name, option| [option, @flags[name]] }
          LdapAccess.shell(['simpkv', *('--from-puppet' if @flags[:from_puppet]), *words, *more])
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

        # Checks the options of a backend that gets no other check.
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
            line = StateLine.new(finding.state, "#{head}#{": #{finding.why}" if finding.why}")
            [line, *("#{' ' * 9}-> #{finding.fix}" if finding.fix)]
          end
        end
      end
    end
  end
end
