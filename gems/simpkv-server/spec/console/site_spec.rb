# frozen_string_literal: true

require 'open3'
require 'puma'
require 'rack/files'
require_relative '../support/browser'
require_relative '../../../../spec/support/scratch'

# The site that `rake docs:site` makes of the documentation.
RSpec.describe 'The site of the documentation', needs: :cext do
  def root
    File.expand_path('../../../..', __dir__)
  end

  # @return [String] what a command prints
  def with_gems_of_lint(*command)
    Open3.capture2e({ 'BUNDLE_WITH' => 'lint' }, 'bundle', 'exec', *command, chdir: root).first
  end

  before(:context) do
    @folder = Scratch.make('site')
    expect(with_gems_of_lint('rake', "docs:site[#{@folder}]")).to match(/\A\d{3} pages\n\z/)
    @server = Puma::Server.new(Rack::Files.new(@folder))
    port = @server.add_tcp_listener('127.0.0.1', 0).addr[1]
    @server.run
    @browser = Browser.new("http://127.0.0.1:#{port}")
  end

  after(:context) do
    @browser&.quit
    @server&.stop(true)
    FileUtils.rm_rf(@folder)
  end

  let(:browser) { @browser }

  it 'shows a page with its pictures, and with no violation of WCAG 2.2 AA in light and dark colors' do
    pages = %w[/index.html /docs/console.html /docs/adr/index.html /REFERENCE.html /docs/simpkv.yaml.5.html]
    pages.each { |page| expect(browser.visit(page).faults.grep_v(/ bytes\z/) + browser.violations).to eq([]) }
    expect(browser.messages).to eq([])
    browser.visit('/docs/console.html')
    seen = browser.page.evaluate('[...document.images].map(image => image.naturalWidth > 0)')
    expect(seen.uniq).to eq([true])
  end

  it 'finds the parts that have all words, from any page' do
    browser.visit('/docs/console.html')
    browser.page.at_css('#search').focus.type('Replication asynchronous')
    browser.click('header button')
    expect(browser.text).to match(/\A.*1 part has all of “Replication asynchronous”/m).and include('High availability')
    browser.click('#results a')
    expect(browser.page.current_url).to match(%r{/docs/[\w-]+\.html})
    expect(browser.visit('/search.html?q=%3Ci%3Ezyxwv').text).to include('0 parts have some of “<i>zyxwv”')
    expect(browser.messages).to eq([])
  end

  # The search was literal, and showed decisions first.
  it 'shows among the first three parts what a reader looks for, also with a word that is misspelt' do
    places = { '--chomp' => %r{\Adocs/simpkv\.1\.html#(?:put|cas)}, 'simpkv edit' => 'docs/simpkv.1.html#edit',
               'simpkv find' => 'docs/simpkv.1.html#find', 'list-size' => 'docs/simpkv.1.html#doctor',
               'password rotaton' => 'docs/rotation.html#how-to-rotate-the-password-of-a-database',
               'rotation passwort' => 'docs/rotation.html#rotation-in-five-minutes',
               'how to delete a key' => 'REFERENCE.html#simpkvdelete', 'simpkv::get' => 'REFERENCE.html#simpkvget',
               'install' => 'docs/install.html#installation', 'exit code 66' => 'docs/runbook.html#exit-code-66',
               'softfail' => 'docs/configuration.html#configuration' }
    browser.visit('/search.html')
    first = places.to_h { |question, _| [question, browser.page.evaluate(<<~JS)] }
      find(#{question.to_json}).parts.slice(0, 3).map(part => sections[part.id].address)
    JS
    expect(first).to match(places.transform_values { |place| include(place) })
    expect(first.values.flatten.grep(/adr|CHANGELOG/)).to eq([])
    expect(browser.page.evaluate('find("C++").parts.length')).to eq(0)
  end

  it 'has the manual pages, in the navigation, with a heading for each command' do
    pages = { 'simpkv.1' => 'simpkv(1)', 'simpkv.yaml.5' => 'simpkv.yaml(5)' }
    pages.each do |page, title|
      browser.visit('/docs/console.html').click(%(nav a[href="#{page}.html"]))
      expect(browser.page.at_css('h1').text).to eq(title)
    end
    commands = File.read(File.join(root, 'docs/simpkv.1')).scan(/^\.SS (.*)/).flatten
    html = File.read(File.join(@folder, 'docs/simpkv.1.html'))
    expect(html.scan(%r{<h3 id="[a-z-]+">(.*)</h3>}).flatten).to eq(commands.map { |name| name.delete('\\') })
    expect(html).not_to include('rakelib', 'man:')
    expect(browser.page.css('nav a').map(&:text)).to include('Decisions')
  end

  # @param writer [String] Ruby, with the variable repository
  # @return [Array<String>] the lines that it prints in a process with the gems of the site
  def site_of(repository, writer)
    code = "require './rakelib/site'; repository = Pathname(ARGV.fetch(0)); #{writer}"
    with_gems_of_lint('ruby', '-e', code, repository).lines(chomp: true)
  end

  # A link to /etc/passwd ended with a backtrace, and ../../../etc/passwd passed, since that file exists.
  # The task removed any folder that it was given.
  it 'names links to nothing with their file and line, and leaves a folder with something else as it is' do
    repository = Scratch.make('repository')
    FileUtils.mkdir(File.join(repository, 'docs'))
    File.write(File.join(repository, 'README.md'), '# Start')
    File.write(File.join(repository, 'docs/README.md'), <<~MARKDOWN)
      # Contents
      [here](#contents) [start](../README.md#start) [e](https://example.org) [gone](gone.md)
      - [absolute](/etc/passwd)
        and [relative](#{'../' * 9}etc/passwd)

      | [heading](../README.md#gone) |
      | --- |
    MARKDOWN
    printed = site_of(repository, <<~RUBY)
      begin
        Site.new(repository.to_s, IO::NULL, root: repository).write
      rescue Site::Folder::Occupied => e
        puts e.message
      end
      site = Site.new(repository.join('site').to_s, IO::NULL, root: repository)
      puts site.write, site.broken
    RUBY
    expect(printed).to contain_exactly(
      "#{repository} has files that this command has not written. Name another folder, or remove it",
      '2', 'docs/README.md:2: gone.md', 'docs/README.md:3: /etc/passwd', "docs/README.md:4: #{'../' * 9}etc/passwd",
      'docs/README.md:6: ../README.md#gone'
    )
  ensure
    FileUtils.rm_rf(repository)
  end

  # Whatever was beside the pages of a site was removed with it: the .git of a branch, or another part of a server.
  it 'replaces a site, and nothing else' do
    require_relative '../../../../rakelib/site/folder'
    folder = Scratch.make('site')
    site = Site::Folder.new(folder)
    expect { site.clear }.to change { File.exist?(folder) }.to(false)
    site.store('docs/index.html', 'a page')
    ['CNAME', '.git/HEAD', 'docs/own.html'].each do |name|
      file = File.join(folder, name)
      FileUtils.mkdir_p(File.dirname(file))
      File.symlink('/', file)
      [file, folder].each { |path| expect { Site::Folder.new(path).clear }.to raise_error(Site::Folder::Occupied) }
      File.unlink(file)
    end
    expect(File.read(File.join(folder, 'docs/index.html'))).to eq('a page')
    expect { site.clear }.to change { File.exist?(folder) }.to(false)
  end

  it 'is made anew in the same folder' do
    require_relative '../../../../rakelib/site/folder'
    copy = File.join(Scratch.make('copy'), 'site')
    FileUtils.cp_r(@folder, copy)
    expect { Site::Folder.new(copy).clear }.to change { File.exist?(copy) }.to(false)
  end
end
