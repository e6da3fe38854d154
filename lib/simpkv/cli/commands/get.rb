# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/several_keys'

module Simpkv
  module Cli
    module Commands
      # Prints the value of a key, or of several.
      class Get < Command
        include SeveralKeys

        SECTION = :keys
        SUMMARY = 'print the value of a key, or of several'
        SUGGEST_FOR = { 'cat' => 'get', 'show' => 'get' }.freeze
        OUTPUTS = [*Command::OUTPUTS, 'env'].freeze
        ARGUMENTS = 'KEY...'
        DESCRIPTION = <<~TEXT
          Prints the value of a key: text and bytes as they are, other values as JSON. Adds a newline on a terminal
          only. Prints a Sensitive in plain text. With -o json or yaml, prints the value and its metadata, bytes in
          base64, whether the value is or holds a Sensitive, and the times at which it was stored and expires, if the
          document has them. Exits with 66 if the key does not exist, has expired, or has no such version.

          With --field, prints a part of a Hash or an Array. NAME has the names of members and the numbers of elements,
          joined with dots: servers.0.port. If it begins with a slash, it is a JSON pointer, such as /servers/0/port, in
          which names may have dots. If the value has no such field, the command exits with 66.

          With several keys, or with --recurse, prints a table of the keys and their values, or with -o json or yaml a
          map by key of what it prints for one. It prints all of them or nothing: if a key cannot be read, it names the
          key and fails. --recurse leaves out keys that have expired, unless --expired is given.

          With -o env, prints lines NAME='value' for a shell: eval "$(simpkv get app1/db -o env)". A Hash or an Array is
          JSON. The name is the path of the key and the field, in capitals and with _ for other characters: APP1_DB.
          With --recurse and --prefix, it is the prefix and the path in the folder. The command exits with 65 if two
          keys have one name, a value is bytes, or a name is a variable that a shell or another program obeys, such as
          PATH.
        TEXT
        EXAMPLES = {
          'simpkv get app1/db_password' => 'A value',
          'simpkv get -g host1/keytab > krb5.keytab' => 'Bytes, into a file',
          'simpkv get app1/db_password -o json' => 'With its metadata',
          'simpkv get app1/db --field servers.0.port' => 'A part of a Hash',
          'simpkv get app1/user app1/url -o json' => 'Several keys',
          'simpkv get --recurse app1 -o env' => 'All keys of a folder, as variables for the eval of a shell',
          'simpkv get app1/db_password --version -1' => 'The value before the current one (simpkv log)',
          'simpkv get app1/db_password --expired' => 'The value, even if it has expired'
        }.freeze

        def run(*keys)
          check(keys)
          stored = @folder ? documents_below(@folder, @expired) : documents(keys.uniq)
          documents = for_each(stored) { |_, document| chosen(document) }
          case @flags[:output]
          when 'table' then print_values(values(documents))
          when 'env' then print_variables(values(documents))
          else print_data(documents, stored)
          end
        end

        private

        def define(parser)
          @version = 0
          parser.on('--field NAME', 'a part of a Hash or an Array, such as servers.0.port') do |text|
            @field = Field.new(text)
          end
          define_folder(parser)
          parser.on('--version N', 'an earlier value: -1 is the one before the current one') do |text|
            @version = converted_option('--version', -100..0, text)
          end
          parser.on('--expired', 'also a value that has expired') { @expired = true }
        end

        def check(keys)
          if keys.empty? == @folder.nil?
            raise Failure.new('either KEY... or --recurse FOLDER is needed (simpkv get --help)', Failure::USAGE)
          end

          check_prefix
          @several = @folder || keys.uniq.length > 1
        end

        # @return [String] the document of the chosen version
        # @raise [NotFoundError] it has expired, or there is no such version
        def chosen(stored)
          check_expiry(stored, '--expired prints it') unless @expired
          @version.zero? ? stored : version(stored, @version)
        end

        # @return [Hash{String => Object}] the values, or what --field names of them, by key
        def values(documents)
          for_each(documents) { |_, document| part(RichData.read(document)[:value]) }
        end

        # @return [Object] the value, or the part of it that --field names
        def part(value)
          @field ? @field.of(value) : value
        end

        def print_data(documents, stored)
          shown = for_each(documents) do |key, document|
            Value.presentable(document) { |value| part(value) }.merge(times(stored[key]))
          end
          output.print(@several ? shown : shown.values.first)
        end

        # @return [Hash{String => String}] those that the document has
        def times(stored)
          Versions.log(stored).find { |version| version['version'] == @version }.slice('stored_at', 'expires').compact
        end

        def print_variables(values)
          words = for_each(values) { |_, value| Variables.word(value) }
          variables(words, @field ? @field.parts : []).each { |name, word| $stdout.write("#{name}=#{word}\n") }
          nil
        end

        def print_values(values)
          return output.print(nil) { Output.table(values.map { |key, value| [key, Value.text(value)] }) } if @several

          $stdout.binmode
          $stdout.write(Value.text(values.values.first))
          $stdout.puts if $stdout.tty?
        end
      end
    end
  end
end
