# frozen_string_literal: true

require 'simpkv/cli/legacy_passwords'
require 'simpkv/cli/transferring'

module Simpkv
  module Cli
    module Commands
      module Passgen
        # Stores the passwords that simplib::passgen kept in files.
        class Import < Transferring
          SUMMARY = 'store the passwords that simplib::passgen kept in files'
          ARGUMENTS = ''
          DESCRIPTION = <<~TEXT
            Stores the passwords that simplib::passgen kept in files below Puppet's vardir (--vardir), in
            simp/environments/ENVIRONMENT/simp_autofiles/gen_passwd, as keys gen_passwd/ID: password and salt as the value,
            those before as the history in the metadata. Of all environments, or with -e of one. The files stay. They do
            not say how complex a password was to be: options do.

            #{MANNER}
          TEXT
          EXAMPLES = {
            'simpkv passgen import --vardir /opt/puppetlabs/server/data/puppetserver --dry-run' => 'What would happen',
            'simpkv passgen import -e production --complexity 1' => 'An environment'
          }.freeze

          def run
            return roll_back(backend) if @rollback
            raise Failure.new('passwords belong to environments, none are global', Failure::USAGE) if @flags[:global]

            settings = { 'complexity' => @complexity || 0, 'complex_only' => @only || false }
            source = LegacyPasswords.new(backend.vardir, settings)
            transfer(source, backend).tap { source.oddities.sort.each { |path, why| warn "simpkv: '#{path}': #{why}" } }
          end

          private

          def define(parser)
            parser.on('--complexity N', Integer, 'to be stored with each: 0, 1 or 2 (0)') do |number|
              raise OptionParser::InvalidArgument, '--complexity' unless number.between?(0, 2)

              @complexity = number
            end
            parser.on('--complex-only', 'to be stored with each') { @only = true }
            super
          end
        end
      end
    end
  end
end
