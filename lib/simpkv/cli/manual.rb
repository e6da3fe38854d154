# frozen_string_literal: true

require 'simpkv/cli/grammar'

module Simpkv
  module Cli
    # The page simpkv(1), in roff for man(7), made from what the commands say of themselves.
    module Manual
      DESCRIPTION = <<~TEXT
        simpkv shows and changes what Puppet manifests keep with simpkv::put and its like: values and their metadata, in
        files or in an LDAP directory. It needs no Puppet.

        A key is a path of a-z 0-9 . _ : / and -. It belongs to an environment, production unless --environment says
        another, or with --global to all of them. Which backend it is in is decided as in manifests; --backend names
        another. No command but get prints a value, and no message holds one. A command that reads refuses an environment
        that has no keys, if --environment names it; put makes it, and says so.

        Options may stand before the command as well as behind it.
      TEXT

      # Each with what is said of it.
      FILES = {
        Configuration::FILE => 'The options, when there is neither --config nor SIMPKV_CONFIG. Without the file, ' \
                               'keys are where manifests without options keep them.',
        '/var/simp/simpkv/file/auto_default' =>
          'The default place of keys. If only simp/simpkv/file/auto_default below ' \
          "puppetserver's vardir exists, or the first cannot be made, it is that."
      }.freeze

      ENVIRONMENT = {
        'SIMPKV_CONFIG' => 'The file of the options, when there is neither --config nor --from-puppet. An empty name ' \
                           'is an error.'
      }.freeze

      CONFIGURATION = <<~TEXT
        The options that Hiera has as simpkv::options, in YAML, alone or under that name: a file of Hiera's own does, too.
        Without that name, the file must have backends. Their types are file and ldap: a type that a module brings with a plugin
        works in Puppet alone.
      TEXT

      EXAMPLE = <<~YAML
        backends:
          default:
            type: file
            id: site
            root_path: /srv/simpkv
          secrets:
            type: ldap
            id: secrets
            ldap_uri: ldaps://ldap.example.com
            base_dn: ou=simpkv,o=puppet,dc=simp
            admin_dn: cn=simpkv,dc=simp
            admin_pw_file: /etc/simpkv/password
            tls_cacert: /etc/pki/tls/certs/ca.pem
      YAML

      class << self
        # @return [String] the page
        def roff
          [head, commands, common, exit_status, described('FILES', FILES), described('ENVIRONMENT', ENVIRONMENT),
           configuration, related].flatten.join("\n").concat("\n")
        end

        private

        def head
          ['.\" Made by `rake docs` from lib/simpkv/cli: change it there.',
           %(.TH SIMPKV 1 "" "simpkv #{VERSION}" "User Commands"), '.nr HY 0', '.ad l',
           '.SH NAME', 'simpkv \- keep values for Puppet manifests, in files or in an LDAP directory',
           '.SH SYNOPSIS', '.B simpkv', '.I COMMAND', '[options] [arguments]', '.br', '.B simpkv help', '.I COMMAND',
           '.br', '.B simpkv \-\-version', '.SH DESCRIPTION', paragraphs(DESCRIPTION)]
        end

        def commands
          ['.SH COMMANDS', Grammar.commands.map { |command| section(command) }]
        end

        def section(command)
          [".SS #{text(command.name)}", synopsis(command), paragraphs(command.type::DESCRIPTION),
           command.own_options.map { |option| definition(option) },
           command.type::EXAMPLES.map { |line, what| example(what, line) }]
        end

        def synopsis(command)
          ['.PP', ".B #{text("simpkv #{command.name}")}", text("[options] #{command.type::ARGUMENTS}".rstrip)]
        end

        def definition(option)
          names = option.names.map { |name| "\\fB#{text(name)}\\fR" }.join(', ')
          argument = " \\fI#{text(option.argument)}\\fR" if option.argument
          ['.TP', "#{names}#{argument}", text(option.text)]
        end

        def example(what, line)
          ['.PP', "#{text(what)}:", code(line)]
        end

        def common
          ['.SH OPTIONS OF ALL COMMANDS', Grammar.common.map { |option| definition(option) }]
        end

        def exit_status
          described('EXIT STATUS', Failure::MEANINGS)
        end

        def described(title, facts)
          [".SH #{title}", facts.map { |name, what| ['.TP', ".B #{text(name.to_s)}", text(what)] }]
        end

        def configuration
          ['.SH CONFIGURATION', paragraphs(CONFIGURATION), '.PP', code(EXAMPLE)]
        end

        def related
          ['.SH SEE ALSO', '.BR puppet (8)']
        end

        def paragraphs(prose)
          prose.split("\n\n").map { |paragraph| ['.PP', text(paragraph.tr("\n", ' ').strip)] }
        end

        # As it stands, indented.
        def code(lines)
          ['.RS 4', '.EX', lines.lines(chomp: true).map { |line| text(line) }, '.EE', '.RE']
        end

        # What roff would take for its own, or would typeset, comes out as it is, and can be copied.
        def text(string)
          string.gsub(/[\\\-'`^~"]/, '\\' => '\e', '-' => '\-', "'" => '\(aq', '`' => '\(ga', '^' => '\(ha',
                                     '~' => '\(ti', '"' => '\(dq')
                .gsub(/[^[:ascii:]]/) { |character| format('\[u%04X]', character.ord) }.sub(/\A\./, '\&.')
        end
      end
    end
  end
end
