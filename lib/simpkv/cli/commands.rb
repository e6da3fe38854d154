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

      # Defines a group of commands, whose members are in the folder of its name.
      def self.group(name, section, summary)
        group = const_set(name, Module.new)
        group.extend(Group)
        group.const_set(:SECTION, section)
        group.const_set(:SUMMARY, summary)
      end
      private_class_method :group

      group :Access, :security, 'keep users, roles and access rights in a directory'
      group :Conflicts, :storage, 'show and resolve what two writers have left in 389 Directory Server'
      group :Keys, :security, 'make and change the keys that encrypt documents'
      group :Node, :nodes, 'show, declare and remove nodes'
      group :Passgen, :moving, 'take over the passwords of simplib::passgen'
      group :Rule, :nodes, 'show, change and test inspection rules'
      group :Ssh, :security, 'store and list authorized SSH keys'
    end
  end
end
