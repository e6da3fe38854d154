# frozen_string_literal: true

desc 'Make the documentation a site in pkg/site, and fail for a link to nothing. Its index.html needs no server'
task 'docs:site', [:folder] => :lint_gems do |task, arguments|
  unless Gem.loaded_specs.key?('commonmarker')
    exec({ 'BUNDLE_WITH' => 'lint' }, 'bundle', 'exec', 'rake', *ARGV.grep(/\A#{task.name}/))
  end
  require 'bundler'
  require_relative 'site'
  require_relative 'site/links'
  minisearch = File.join(Bundler.settings[:path].to_s, 'npm/node_modules/minisearch/dist/umd/index.js')
  abort 'MiniSearch, which searches the site, is missing. Run: bin/setup site' unless File.file?(minisearch)

  folder = arguments.fetch(:folder, 'pkg/site')
  puts "#{Site.new(folder, minisearch).write} pages"
  broken = Site::Links.new(folder).broken
  abort "links to nothing:\n#{broken.join("\n")}" if broken.any?
end
