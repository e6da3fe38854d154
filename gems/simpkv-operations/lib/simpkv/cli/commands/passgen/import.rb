# frozen_string_literal: true

require 'simpkv/cli/transfer/legacy_passwords'
require 'simpkv/cli/transfer/transfer_command'

module Simpkv
  module Cli
    module Commands
      module Passgen
        # Stores the passwords of simplib::passgen.
        class Import < TransferCommand
          SUMMARY = 'store the passwords of simplib::passgen'
          ARGUMENTS = ''
          DESCRIPTION = <<~TEXT
            Stores the passwords that simplib::passgen kept in files below the vardir of Puppet (--vardir), in
            simp/environments/ENVIRONMENT/simp_autofiles/gen_passwd, as keys gen_passwd/ID. The value has the
            password and the salt; the metadata have the former ones as the history. Imports all environments, or one
            with -e. Leaves the files. The files do not contain the complexity of a password: --complexity and
            --complex-only set it.

            #{PROCEDURE}
          TEXT
          EXAMPLES = {
            'simpkv passgen import --vardir /opt/puppetlabs/server/data/puppetserver --dry-run' => 'A dry run',
            'simpkv passgen import -e production --complexity 1' => 'An environment'
          }.freeze

          def run
            return roll_back(backend) if @rollback
            raise Failure.new('passwords belong to environments, none are global', Failure::USAGE) if @flags[:global]

            settings = { 'complexity' => @complexity || 0, 'complex_only' => @only || false }
            source = LegacyPasswords.new(backend.vardir, settings)
            transfer(source, backend).tap { source.warnings.sort.each { |path, why| warn "simpkv: '#{path}': #{why}" } }
          end

          private

          def define(parser)
            parser.on('--complexity N', 'the complexity to store: 0, 1 or 2 (0)') do |text|
              @complexity = converted_option('--complexity', 0..2, text)
            end
            parser.on('--complex-only', 'store that passwords are complex only') { @only = true }
            super
          end
        end
      end
    end
  end
end
