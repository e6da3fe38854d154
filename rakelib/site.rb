# frozen_string_literal: true

require 'commonmarker'
require 'erb'
require 'json'
require 'pathname'
require_relative 'site/addresses'
require_relative 'site/folder'
require_relative 'site/links'
require_relative 'site/manual_page'
require_relative 'site/page'

# Makes of the documentation a folder of HTML that needs no server: the pages at the top of the repository and below
# docs/, all that they link to, and a search.
class Site
  ROOT = Pathname(File.expand_path('..', __dir__))
  PAGES = %w[README.md REFERENCE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/**/*.md
             gems/*/{README,docs/**/*}.md].freeze
  TEMPLATES = %w[page folder search].to_h { |name| [name, "rakelib/site/#{name}.html.erb"] }.freeze
  CONTENTS = 'docs/README.md'
  CONSOLE = 'gems/simpkv-server/lib/simpkv/server/console/assets'
  # What the pages load, by the names in the site. Only the page of the search loads scripts.
  ASSETS = { 'icon.svg' => "#{CONSOLE}/icon.svg", 'console.css' => "#{CONSOLE}/console.css",
             'site.css' => 'rakelib/site/site.css', 'search.js' => 'rakelib/site/search.js' }.freeze
  private_constant :ROOT, :CONSOLE, :PAGES, :TEMPLATES, :CONTENTS, :ASSETS

  # @param folder [String] where the site is made anew
  # @param minisearch [String] the script of MiniSearch, of npm
  # @param manuals [Hash{String => String}] the manual pages: files of the repository, and their Markdown, of kramdown
  # @param root [Pathname] the folder of the pages
  def initialize(folder, minisearch, manuals = {}, root: ROOT)
    @folder = Folder.new(folder)
    @minisearch = minisearch
    @root = root
    pages = Dir[*PAGES, base: root].map { |file| Page.new(root, file) }
    @pages = [*pages, *manuals.map { |manual| ManualPage.new(*manual) }].to_h { |page| [page.file, page] }
    @addresses = Addresses.new(root, @pages.transform_values(&:target))
  end

  # Writes the site.
  #
  # @return [Integer] the number of pages
  # @raise [Folder::Occupied] if the folder has something other than a site
  def write
    @folder.clear
    bodies = @pages.values.to_h { |page| [page, page.html { |*link| @addresses.of(page.file, *link) }] }
    bodies.each { |page, body| @folder.store(page.target, layout(page.title, page.target, body)) }
    @addresses.folders.uniq.each { |folder| write_folder(folder) }
    write_search
    copy
    @pages.length
  end

  # @return [Array<String>] the links of the site that lead to nothing, each with its file and line
  def broken
    Links.new(@folder.path, @addresses.origins).broken
  end

  private

  # Writes the page of a folder that has no README.md.
  def write_folder(folder)
    target = "#{folder}/index.html"
    files = Dir['*', base: @root.join(folder)].sort.select { |name| @root.join(folder, name).file? }
    rows = files.map do |name|
      place = Pathname(@addresses.target_of("#{folder}/#{name}")).relative_path_from(Pathname(folder))
      [place, @pages["#{folder}/#{name}"]&.title || name]
    end
    @folder.store(target, layout(folder, target, render('folder', binding)))
  end

  def write_search
    sections = @pages.values.flat_map(&:sections).each_with_index.map { |section, id| section.merge('id' => id) }
    @folder.store('sections.js', "const sections = #{JSON.generate(sections)};\n")
    @folder.store('search.html', layout('Search', 'search.html', render('search', binding)))
  end

  def copy
    ASSETS.each { |name, file| @folder.store(name, ROOT.join(file).binread) }
    @addresses.copies.uniq.each { |file| @folder.store(file, @root.join(file).binread) }
    @folder.store('minisearch.js', File.binread(@minisearch))
  end

  # @param target [String] the file in the site
  # @return [String] the whole page
  def layout(title, target, body)
    top = '../' * target.count('/')
    render('page', binding)
  end

  # @param target [String] the file in the site
  # @return [Hash{String => Array<Array(String, String, Boolean)>}] the headings of the contents, each with addresses
  #   and titles of pages, and whether a page is this one
  def contents(target)
    @contents ||= read_contents
    here = Pathname(target).dirname
    @contents.transform_values do |links|
      links.map { |place, title| [Pathname(place).relative_path_from(here), title, place == target] }
    end
  end

  # @return [Hash{String => Array<Array(String, String)>}] places in the site, and their titles
  def read_contents
    page = @pages.fetch(CONTENTS)
    titles = @pages.values.to_h { |each| [each.target, each.title] }
    page.contents { |*link| @addresses.of(page.file, *link) }.to_h do |heading, links|
      places = links.map { |link, text| [Pathname(page.target).dirname.join(link).cleanpath.to_s, text] }
      [heading, places.map { |place, text| [place, titles.fetch(place, text)] }]
    end
  end

  def render(name, scope)
    ERB.new(ROOT.join(TEMPLATES.fetch(name)).read(encoding: 'UTF-8'), trim_mode: '-').result(scope)
  end

  def h(text)
    ERB::Util.html_escape(text)
  end
end
