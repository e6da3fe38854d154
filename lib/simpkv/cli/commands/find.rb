# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/walk'

module Simpkv
  module Cli
    module Commands
      # Finds keys and folders by their names.
      class Find < Command
        SUMMARY = 'find keys and folders by their names'
        ARGUMENTS = '[PATTERN...]'
        DESCRIPTION = <<~TEXT
          Prints the paths of the keys whose name fits a pattern: * stands for any letters, ? for one, [a-c] for some,
          {db,web} for either. A pattern with a slash is for the whole path below the environment; there ** stands for
          any folders. Without a pattern, all. Values are not printed.
        TEXT
        EXAMPLES = {
          "simpkv find 'db*'" => 'Keys whose name begins with db',
          "simpkv find 'app1/**/password'" => 'Keys of that name, anywhere below app1',
          "simpkv find --folders 'host?'" => 'Folders',
          'simpkv find --all --under gen_passwd' => 'All keys below folders of that name, in all environments'
        }.freeze

        def run(*patterns)
          names = about('') { Walk.new(@all ? backend.store : reading).names(@all ? Walk::ROOTS : [backend.prefix]) }
          found = (@folders ? names[:folders] : names[:keys]).select { |path| fits?(below(path), patterns) }
          shown = @all ? found : found.map { |path| below(path) }
          output.print(shown) { shown }
          report(names[:errors])
        end

        private

        def define(parser)
          parser.on('--folders', 'folders instead of keys') { @folders = true }
          parser.on('--under PATTERN', 'only in folders whose name, or path, fits') { |pattern| @under = pattern }
          parser.on('-a', '--all', 'all environments and the global keys; paths are printed in full') { @all = true }
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
