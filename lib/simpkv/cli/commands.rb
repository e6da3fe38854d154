# frozen_string_literal: true

require 'simpkv/cli'
require 'simpkv/cli/group'

module Simpkv
  module Cli
    # The commands, a class each, and their groups.
    module Commands
      extend Group

      # Other names of commands: those of the functions.
      ALIASES = { 'list' => 'ls', 'delete' => 'rm' }.freeze

      SUMMARY = 'keep values for Puppet manifests, in files or in an LDAP directory'
      HELP = <<~TEXT.chomp
        ; simpkv man shows the whole manual.

        Examples:
          simpkv put app1/db_password --sensitive --chomp - < password.txt
          simpkv get app1/db_password
          simpkv --config site.yaml doctor
      TEXT
    end
  end
end
