# frozen_string_literal: true

desc 'Make the documentation a site in pkg/site, and fail for a link to nothing. Its index.html needs no server'
task 'docs:site', %i[folder root] => :documentation do |_, arguments|
  require 'bundler'
  require 'json'
  require 'tmpdir'
  folder = arguments.fetch(:folder, 'pkg/site')
  minisearch = File.join(Bundler.settings[:path].to_s, 'npm/node_modules/minisearch/dist/umd/index.js')
  found = File.file?(minisearch) && system('command -v sphinx-build > /dev/null')
  abort 'Sphinx, or MiniSearch, which searches the site, is missing. Run: bin/setup site' unless found
  # Sphinx writes this file.
  others = Dir.exist?(folder) && !File.file?(File.join(folder, '.buildinfo')) && Dir.children(folder).any?
  abort "#{folder} has files that this command has not written. Name another folder, or remove it" if others

  Dir.mktmpdir do |work|
    manuals = File.join(work, 'manuals.json')
    File.write(manuals, JSON.generate(Documentation.manuals))
    FileUtils.cp(minisearch, script = File.join(work, 'minisearch.js'))
    sh({ 'MANUALS' => manuals, 'MINISEARCH' => script }, 'sphinx-build', '-q', '-W', '--keep-going',
       '-c', 'rakelib/site', '-d', File.join(work, 'read'), arguments.fetch(:root, '.'), folder, verbose: false)
  end
end
