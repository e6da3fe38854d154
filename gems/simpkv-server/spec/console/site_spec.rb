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

  # @return [Array(String, Boolean)] what the task prints, and whether it succeeds
  def make_site(*arguments)
    task = "docs:site[#{arguments.join(',')}]"
    printed, status = Open3.capture2e({ 'BUNDLE_WITH' => 'lint' }, 'bundle', 'exec', 'rake', task, chdir: root)
    [printed, status.success?]
  end

  before(:context) do
    @folder = Scratch.make('site')
    expect(make_site(@folder)).to eq(['', true])
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
    pages = %w[/index.html /docs/console.html /docs/adr/README.html /REFERENCE.html /docs/simpkv.yaml.html]
    pages.each { |page| expect(browser.visit(page).faults.grep_v(/ bytes\z/) + browser.violations(runOnly: Browser::TAGS)).to eq([]) }
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
    places = { '--chomp' => %r{\Adocs/simpkv\.html#(?:put|cas)}, 'simpkv edit' => 'docs/simpkv.html#edit',
               'simpkv find' => 'docs/simpkv.html#find', 'list-size' => 'docs/simpkv.html#doctor',
               'password rotaton' => 'docs/rotation.html#how-to-rotate-the-password-of-a-database',
               'rotation passwort' => 'docs/rotation.html#rotation-in-five-minutes',
               'how to delete a key' => 'REFERENCE.html#simpkv-delete', 'simpkv::get' => 'REFERENCE.html#simpkv-get',
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
    pages = { 'simpkv' => 'simpkv(1)', 'simpkv.yaml' => 'simpkv.yaml(5)' }
    pages.each do |page, title|
      browser.visit('/docs/console.html').click(%(nav a[href="#{page}.html"]))
      expect(browser.page.at_css('h1').text).to eq(title)
    end
    commands = File.read(File.join(root, 'docs/simpkv.1')).scan(/^\.SS (.*)/).flatten
    html = File.read(File.join(@folder, 'docs/simpkv.html'))
    expect(html.scan(%r{<h3>(.*)</h3>}).flatten).to eq(commands.map { |name| name.delete('\\') })
    expect(html).not_to include('rakelib', 'man:')
    expect(browser.page.css('nav a').map(&:text)).to include('Decisions')
  end

  context 'with a small repository' do
    let(:folder) { Scratch.make('small') }

    after { FileUtils.rm_rf([@repository, folder]) }

    # @param contents [String] of docs/README.md
    # @return [String] the folder of a repository
    def repository(contents)
      @repository = Scratch.make('repository')
      FileUtils.mkdir(File.join(@repository, 'docs'))
      File.write(File.join(@repository, 'README.md'), '# Start')
      File.write(File.join(@repository, 'docs/README.md'), contents)
      @repository
    end

    # A link to /etc/passwd ended with a backtrace, and ../../../etc/passwd passed, since that file exists.
    it 'names links to nothing with their file and line' do
      repository(<<~MARKDOWN)
        # Contents
        [here](#contents) [start](../README.md#start) [e](https://example.org) [gone](gone.md) [folder](../docs)
        - [absolute](/etc/passwd)
          and [relative](#{'../' * 9}etc/passwd)

        | [heading](../README.md#gone) |
        | --- |
      MARKDOWN
      printed, passed = make_site(folder, @repository)
      expect(printed.scan(%r{docs/README.md:(\d+): WARNING: .*: (\S+)$})).to contain_exactly(
        %w[2 gone.md], ['3', "#{@repository}/etc/passwd"], ['3', "#{'../' * 9}etc/passwd"], %w[6 ../README.md#gone]
      )
      expect(passed).to be(false)
      expect(Dir[File.join(folder, '**/passwd')]).to eq([])
    end

    # The task removed any folder that it was given. Later, it removed what was beside the pages of a site: the .git of
    # a branch, or another part of a server.
    it 'leaves a folder with something else as it is, and replaces a site without what is beside it' do
      repository("# Contents\n")
      expect(make_site(@repository, @repository)).to match([/#{@repository} has files that this command/, false])
      expect(Dir.children(@repository)).to contain_exactly('README.md', 'docs')
      expect(make_site(folder, @repository)).to eq(['', true])
      File.write(File.join(folder, 'CNAME'), 'own')
      File.write(File.join(@repository, 'README.md'), '# Another start')
      expect(make_site(folder, @repository)).to eq(['', true])
      expect(File.read(File.join(folder, 'index.html'))).to include('<h1>Another start</h1>')
      expect(File.read(File.join(folder, 'CNAME'))).to eq('own')
    end
  end
end
