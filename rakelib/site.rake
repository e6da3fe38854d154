# frozen_string_literal: true

desc 'Make the documentation a site in pkg/site, and fail for a link to nothing. Its index.html needs no server'
task 'docs:site', [:folder] => :documentation do |_, arguments|
  require 'bundler'
  require_relative 'site'
  minisearch = File.join(Bundler.settings[:path].to_s, 'npm/node_modules/minisearch/dist/umd/index.js')
  abort 'MiniSearch, which searches the site, is missing. Run: bin/setup site' unless File.file?(minisearch)

  site = Site.new(arguments.fetch(:folder, 'pkg/site'), minisearch, Documentation.manuals)
  begin
    puts "#{site.write} pages"
  rescue Site::Folder::Occupied => e
    abort e.message
  end
  broken = site.broken
  abort "links to nothing:\n#{broken.join("\n")}" if broken.any?
end
