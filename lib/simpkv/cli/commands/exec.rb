# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/memory_file'
require 'simpkv/cli/several_keys'

module Simpkv
  module Cli
    module Commands
      # Runs a program with values in its environment, or in files in memory.
      class Exec < Command
        include SeveralKeys

        SECTION = :keys
        SUMMARY = 'run a program with values in its environment or in files in memory'
        SUGGEST_FOR = { 'run' => 'exec', 'env' => 'exec' }.freeze
        ARGUMENTS = 'PROGRAM [ARGUMENT...]'
        DESCRIPTION = <<~TEXT
          Runs a program that finds values of keys in its environment, or in files in memory. The program replaces
          simpkv: its process, signals and exit code are its own. No value is on a disk or in the arguments of a
          process.

          With --env, the variable NAME has the value: text and bytes as they are, other values as JSON. With --file,
          it has the path of a file with the value, such as /proc/self/fd/5. The file has no name in any folder: it is
          a descriptor that the program inherits, in the tmpfs of /dev/shm, readable for the user of the program, and
          is gone when the program ends. A process that the program starts can read it only if it inherits the
          descriptor too. With --recurse, each key of a folder is a variable, with the name that simpkv get -o env
          gives it, unless the key has expired.

          The options of simpkv stand before PROGRAM, with or without --. Root and the user of the program can read
          its environment, and processes that it starts inherit it. Prefer --file for keys of TLS and the like.

          If a key does not exist or has expired, the command exits with 66; if a variable cannot hold a value, because
          it has the byte 0, or two keys have one name, with 65. The program then does not start. The exit code is 127
          if there is no such program, and 126 if it cannot be run.
        TEXT
        EXAMPLES = {
          'simpkv exec --env PGPASSWORD=app1/db -- psql -h db1 app' => 'A password in the environment',
          'simpkv exec --file TOKEN_FILE=app1/token -- app1 serve' => 'A file in memory: the program opens $TOKEN_FILE',
          'simpkv exec --recurse app1/settings --prefix APP1_ -- app1 serve' => 'All keys of a folder'
        }.freeze

        NAME = /\A[A-Za-z_][A-Za-z0-9_]*\z/.freeze
        private_constant :NAME

        def run(program, *arguments)
          if @variables.empty? && @files.empty? && @folder.nil?
            raise Failure.new('one of --env, --file and --recurse is needed (simpkv exec --help)', Failure::USAGE)
          end

          check_prefix
          environment = of_folder.merge(of_keys) { |name, *| refuse_twice(name) }
          replace(environment, program, arguments)
        end

        private

        # The options behind the program are the program's.
        def parse(arguments)
          parser.order(arguments)
        end

        def define(parser)
          @variables = {}
          @files = {}
          parser.on('--env NAME=KEY', 'the variable NAME has the value of KEY; repeatable') do |text|
            add(@variables, '--env', text)
          end
          parser.on('--file NAME=KEY', 'NAME has the path of a file with the value; repeatable') do |text|
            add(@files, '--file', text)
          end
          define_folder(parser)
        end

        def add(all, option, text)
          name, key = text.split('=', 2)
          refuse_twice(name) if @variables.key?(name) || @files.key?(name)
          return all[name] = key if name.to_s.match?(NAME) && !key.to_s.empty?

          raise Failure.new("#{option} must be NAME=KEY, such as DB=app1/db (simpkv exec --help)", Failure::USAGE)
        end

        def refuse_twice(name)
          raise Failure.new("two keys for the variable #{name}", Failure::USAGE)
        end

        # @return [Hash{String => String}] variables of the keys of --recurse
        def of_folder
          return {} unless @folder

          refuse_all_keys
          texts = for_each(documents_below(@folder, false)) { |_, document| Variables.text(value(document)) }
          variables(texts)
        end

        # @return [Hash{String => String, File}] variables of the keys that are named
        def of_keys
          named = @variables.merge(@files)
          return {} if named.empty?

          values = for_each(documents(named.values.uniq)) do |_, document|
            value(check_expiry(document, 'the program was not started'))
          end
          texts = for_each(values.slice(*@variables.values)) { |_, value| Variables.text(value) }
          @variables.transform_values { |key| texts[key] }
                    .merge(@files.transform_values { |key| MemoryFile.of(Value.text(values[key])) })
        end

        def value(document)
          RichData.read(document)[:value]
        end

        # @param environment [Hash{String => String, File}]
        def replace(environment, program, arguments)
          files = environment.values.grep(File)
          environment = environment.transform_values { |value| value.is_a?(File) ? MemoryFile.path(value) : value }
          exec(environment, [program, program], *arguments, files.to_h { |file| [file.fileno, file.fileno] })
        rescue Errno::ENOENT, Errno::ENOTDIR
          raise Failure.new("there is no program '#{program}'", Failure::NO_PROGRAM), cause: nil
        rescue SystemCallError => e
          raise Failure.new("the program '#{program}' cannot be run: #{e.class.new.message}", Failure::CANNOT_RUN),
                cause: nil
        end
      end
    end
  end
end
