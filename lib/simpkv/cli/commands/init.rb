# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/directory/base_entry'
require 'simpkv/cli/data_file'
require 'simpkv/cli/directory/directory_schema'
require 'simpkv/cli/owners'

module Simpkv
  module Cli
    module Commands
      # Creates the storage of a backend.
      class Init < Command
        SECTION = :storage
        SUMMARY = 'create the storage of a backend'
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Creates the storage that a backend needs before its first key. For files, this is the folder; if root
          creates it, it belongs to the user puppet, if that user exists. For a directory, it is the schema, the base
          entry and the entries above it, if they are missing. The bind DN of the backend seldom has the rights for
          this: choose another one with --as, --password-file and --uri. On OpenLDAP the schema goes into cn=config,
          which often only root can change, over the server's socket: use --local, and --uri with the path of the
          socket. If a right is missing, the command prints how to do the step by hand.

          In the backend of the estate, the command also creates the estate: a marker document in each of its folders,
          without which Puppet's termini do not use them. An estate of an earlier version gets the markers that it
          lacks. If a folder of the estate is lost, or the identity cannot see it, the command names the folder and
          creates nothing. --incomplete accepts the loss of the folder's contents, and of exported documents that are
          missing.

          In an encrypted backend, a new estate records the option encrypt. A process with another value, or without
          keys, cannot use it then, and a plain document is an error. For an existing estate, simpkv rekey records the
          option. --unpin removes the record, so that you can change the option of one process after the other
          (docs/encryption.md).
        TEXT
        EXAMPLES = {
          'simpkv init' => 'Files',
          "simpkv init --as 'cn=Directory Manager' --password-file dm.txt" => 'Schema and base entry, on 389-DS',
          'simpkv init --uri ldapi://%2Frun%2Fslapd%2Fldapi --local --only schema' => 'The schema, on OpenLDAP',
          'simpkv init --as cn=admin,dc=simp --password-file admin.txt --only base' => 'The base entry',
          'simpkv init --only estate' => 'The estate',
          'simpkv init --only estate --unpin' => 'Begin to change the encryption of an estate'
        }.freeze

        def run
          Owners.demand(@only) if Owners.missing.include?(@only)
          steps = backend.ldap? ? prepare_directory : prepare_folder
          owners = Owners.of(configuration, backend, backend.store(base: false))
          owners = owners.select { |name, _| [nil, name].include?(@only) }
          owners.each { |name, owner| steps[name] = about("the #{name}") { prepare(owner) } }
          output.print(steps) { Output.table(steps.map { |what, outcome| ["#{what}:", outcome] }) }
        end

        private

        def define(parser)
          @overriding = {}
          parser.on('--as DN', 'the identity that does it') { |dn| @overriding['admin_dn'] = dn }
          parser.on('--password-file FILE', 'the file with the password of --as') do |file|
            @overriding['admin_pw_file'] = File.expand_path(DataFile.path(file, '--password-file'))
          end
          parser.on('--local', 'bind as the local user, over ldapi://') { @overriding['admin_pw_file'] = nil }
          parser.on('--uri URI', 'the server') do |uri|
            @overriding.merge!('ldap_uri' => uri, 'write_uri' => nil)
          end
          *names, last = ['schema', 'base', *Owners.known]
          parser.on('--only PART', [*names, last], "#{names.join(', ')} or #{last}") { |part| @only = part }
          parser.on('--incomplete', 'give up what lost folders of the estate held') { @incomplete = true }
          parser.on('--unpin', "let processes of the estate differ in 'encrypt', until simpkv rekey") { @unpin = true }
        end

        def prepare_folder
          refuse_directory_options
          there = backend.there?
          backend.store(create: true)
          root = backend.place
          steps = { 'folder' => "#{root.path} #{there ? 'already exists' : 'was made'}" }
          if root.passed_over
            steps['note'] = "this is the store that functions use; an empty one in '#{root.passed_over}' would hide it"
          end
          steps.merge('owner' => root.owner)
        end

        # Without its configuration file, the command would create a folder for an administrator who means a directory.
        def refuse_directory_options
          return unless %w[schema base].include?(@only) || @overriding.any?

          raise Failure.new("--as, --password-file, --local, --uri and --only are for directories: #{backend.title} " \
                            'keeps its keys in files (--config or --backend names another)', Failure::USAGE)
        end

        # @return [String] what was done
        def prepare(owner)
          owner.make(incomplete: @incomplete ? true : false, unpin: @unpin ? true : false)
        end

        def prepare_directory
          @backend = backend.with(@overriding)
          steps = {}
          steps['schema'] = about('the schema') { load_schema } if [nil, 'schema'].include?(@only)
          steps['base entry'] = about(base_dn) { make_base } if [nil, 'base'].include?(@only)
          steps
        end

        def load_schema
          schema = DirectorySchema.new(backend.store(base: false), backend.settings['layout'])
          return 'already exists' if schema.missing.empty?

          refuse_other_layout(schema)
          schema.load
          check_loaded(schema)
          "was loaded: #{backend.settings['layout']}"
        rescue DeniedError, NotFoundError => e
          raise e.reworded("#{e.message}. By hand: #{by_hand(schema)}"), cause: nil
        end

        def refuse_other_layout(schema)
          other = schema.other_layout
          return unless other

          layout = backend.settings['layout']
          raise Failure.new("#{backend.title}: 'the schema': the server carries the schema of the layout #{other}, " \
                            "which excludes that of #{layout}: one server carries one of the two. Set " \
                            "'layout: #{other}', or use another server", Failure::CONFIG)
        end

        # A server can answer that a definition exists, and mean another one.
        def check_loaded(schema)
          missing = schema.missing
          return if missing.empty?

          raise ExistsError, "the server has not taken it: it still lacks #{missing.join(', ')}. Look for another " \
                             'schema with these names, or with object identifiers below 1.3.6.1.4.1.47012.1.1'
        end

        def by_hand(schema)
          file = DirectorySchema.file(schema.server, backend.settings['layout'])
          return "ldapmodify -x -ZZ -H ldap://HOST -D 'cn=Directory Manager' -W -f #{file}" if schema.server == '389ds'

          "ldapadd -Q -Y EXTERNAL -H ldapi:/// -f #{file}; with slapd.conf, include #{file.sub('.ldif', '.schema')}"
        end

        def base_dn
          backend.settings['base_dn']
        end

        def make_base
          made = make(base_dn)
          made.empty? ? 'already exists' : "was made: #{made.join('; ')}"
        rescue DeniedError => e
          raise e.reworded("#{e.message.chomp('.')}. Say with --as and --password-file who may make it"), cause: nil
        end

        # @return [Array<String>] the new entries, the outermost first
        def make(dn)
          add(dn) ? [dn] : []
        rescue NotFoundError
          above = BaseEntry.above(dn)
          raise unless above

          make(above) + (add(dn) ? [dn] : [])
        end

        def add(dn)
          backend.store(base: false).directory.add_entry(dn, BaseEntry.attributes(dn))
        end
      end
    end
  end
end
