# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/directory_schema'

module Simpkv
  module Cli
    module Commands
      # Prints what a directory must be told before it can hold keys.
      class Schema < Command
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Prints a file for the directory's administrator; how it is loaded stands in its comments. The form is one of:
          ldif, the schema for a running server; schema, the same for OpenLDAP's slapd.conf; limits, which lifts the
          limits of what can be listed, and has indexes; base, the entry below which keys are kept. Without --layout, it
          is for the layout of the backend, if that is a directory, and else plain. The files say dc=simp: put your own
          suffix there.
        TEXT
        EXAMPLES = {
          'simpkv schema > simpkv.ldif' => 'For OpenLDAP with cn=config',
          'simpkv schema --form schema > /etc/ldap/schema/simpkv.schema' => 'For OpenLDAP with slapd.conf',
          'simpkv schema --server 389ds --layout hex > hex.ldif' => 'For 389 Directory Server',
          'simpkv schema --form base > base.ldif' => 'The base entry, for either'
        }.freeze

        def run
          server = @server || 'openldap'
          form = @form || 'ldif'
          forms = DirectorySchema.forms(server)
          unless forms.include?(form)
            raise Failure.new("there is no form '#{form}' for #{server}: it has #{forms.join(', ')}", Failure::USAGE)
          end

          $stdout.print(File.read(DirectorySchema.file(server, layout, form)))
        end

        private

        def define(parser)
          parser.on('--server SERVER', %w[openldap 389ds], 'openldap (default) or 389ds') { |name| @server = name }
          parser.on('--layout LAYOUT', %w[plain hex], "plain or hex, as in the backend's options") do |name|
            @layout = name
          end
          parser.on('--form FORM', %w[ldif schema limits base], 'ldif (default), schema, limits or base') do |name|
            @form = name
          end
        end

        def layout
          @layout || (backend.ldap? ? backend.settings['layout'] : 'plain')
        end
      end
    end
  end
end
