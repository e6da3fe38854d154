# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/walk'

module Simpkv
  module Cli
    module Commands
      # Finds keys and folders by name.
      class Find < Command
        SECTION = :keys
        SUMMARY = 'find keys and folders by name'
        ARGUMENTS = '[PATTERN...]'
        DESCRIPTION = <<~TEXT
          Prints the paths of the keys whose names match a pattern. In a pattern, * matches any characters, ? matches
          one, [a-c] matches one of several, and {db,web} matches either word. A pattern with a slash is matched
          against the whole path below the environment, and ** in it matches any folders. Without a pattern, prints
          all keys. Prints no values, and no keys that have expired, unless --expired is given. With --expired, reads
          names only, which is faster.
        TEXT
        EXAMPLES = {
          "simpkv find 'db*'" => 'Keys with names that begin with db',
          "simpkv find 'app1/**/password'" => 'Keys of one name, anywhere below app1',
          "simpkv find --folders 'host?'" => 'Folders',
          'simpkv find --all --under gen_passwd' => 'All keys below folders of that name, in all environments'
        }.freeze

        def run(*patterns)
          store = @all ? backend.store : reading
          names = about('') { Walk.new(store).names(places, expired: @expired || @folders) }
          paths = (@folders ? names[:folders] : names[:keys]).select { |path| fits?(below(path), patterns) }
          shown = @all ? paths : paths.map { |path| below(path) }
          output.print(shown) { shown }
          report(names[:errors])
        end

        private

        def define(parser)
          parser.on('--folders', 'print folders instead of keys') { @folders = true }
          parser.on('--under PATTERN', 'only keys in folders with such a name or path') { |pattern| @under = pattern }
          parser.on('-a', '--all', 'search everything, and print full paths') { @all = true }
          parser.on('--expired', 'print keys that have expired, too') { @expired = true }
        end

        def places
          @all ? Walk::ROOTS : [backend.prefix]
        end

        # The path as manifests write it.
        def below(path)
          @all ? path.sub(%r{\A(globals|environments/[^/]+)/}, '') : path.delete_prefix("#{backend.prefix}/")
        end

        def fits?(path, patterns)
          return false if @under && ancestors(path).none? { |folder| match?(@under, folder) }

          patterns.empty? || patterns.any? { |pattern| match?(pattern, path) }
        end

        def ancestors(path)
          names = path.split('/')[0..-2]
          names.each_index.map { |last| names[0..last].join('/') }
        end

        def match?(pattern, path)
          text = pattern.include?('/') ? path : File.basename(path)
          File.fnmatch?(pattern, text, File::FNM_PATHNAME | File::FNM_DOTMATCH | File::FNM_EXTGLOB)
        end
      end
    end
  end
end
