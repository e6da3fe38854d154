# frozen_string_literal: true

require 'open3'
require 'puma'
require 'rack/files'
require_relative '../support/browser'
require_relative '../support/scratch'

# The site that `rake docs:site` makes of the documentation.
RSpec.describe 'The site of the documentation', needs: :cext do
  # @return [String] what a command prints
  def with_gems_of_lint(*command)
    root = File.expand_path('../..', __dir__)
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
    pages = %w[/index.html /docs/console.html /docs/adr/index.html /REFERENCE.html]
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
    expect(browser.text).to match(/\A.*1 part has “Replication asynchronous”/m).and include('High availability')
    browser.click('#results a')
    expect(browser.page.current_url).to match(%r{/docs/[\w-]+\.html})
    expect(browser.visit('/search.html?q=%3Cb%3Ezyxwv').text).to include('0 parts have “<b>zyxwv”')
    expect(browser.messages).to eq([])
  end

  it 'has no link to nothing: it finds those to no file and to no heading' do
    require_relative '../../rakelib/site/links'
    html = '<a href="gone.html"> <h2 id="here"> <a href="#here"> <a href="#gone"> <a href="https://example.org">'
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, 'index.html'), html)
      expect(Site::Links.new(folder).broken).to eq(%w[gone.html #gone].map { |link| "index.html: #{link}" })
    end
  end
end
