# frozen_string_literal: true

require 'fileutils'

# The files of the Puppet module. The package of the Forge has all of them, and those of distributions have the code:
# their package of the command has the pages.
module ModuleFiles
  CODE = ['metadata.json', 'hiera.yaml', '{data,examples,files,manifests,plans,tasks,templates,types}/**/*',
          'lib/{puppet/{functions,type,provider,feature},puppet_x}/**/*'].freeze
  PAGES = ['LICENSE', '{README,REFERENCE,CHANGELOG,CONTRIBUTING}.md', 'docs/**/*.{json,md,png,svg,1,5}',
           'gems/*/{README.md,docs/**/*.md}', 'schema/**/*'].freeze

  # @return [Array<String>] the names of the files, and of folders, below the current folder
  def self.all
    Dir[*CODE, *PAGES]
  end

  # Copies the files with the code.
  #
  # @param folder [String]
  # @return [void]
  def self.install(folder)
    Dir[*CODE].select { |name| File.file?(name) }.each do |file|
      FileUtils.mkdir_p(File.join(folder, File.dirname(file)))
      FileUtils.cp(file, File.join(folder, file))
    end
  end
end

ModuleFiles.install(ARGV.fetch(0)) if $PROGRAM_NAME == __FILE__
