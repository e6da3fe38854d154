# frozen_string_literal: true

require 'cgi'
require_relative '../support/form_pages'
require_relative '../../../../spec/support/hostile_texts'
require_relative '../support/sample_console'

RSpec.describe 'The console over data with markup and script in each text', needs: :cext do
  before(:context) do
    @console = SampleConsole.new(20, 2)
    HostileTexts.new(@console.store).plant
    @directory = SampleConsole.directory
    @console.start(@directory, HostileTexts.bindings)
  end

  after(:context) do
    @console&.remove
    @directory&.stop
  end

  let(:browser) { @console.browser }

  before { browser.reset }

  # @return [Array<String>] addresses of the pages of the menu, with markup in a field of one of their forms
  def addresses
    browser.visit('/')
    menu = browser.page.evaluate('[...document.querySelectorAll("nav a")].map(link => link.getAttribute("href"))')
    menu.flat_map do |path|
      browser.visit(path)
      fields = browser.page.evaluate('[...document.querySelectorAll("form[method=get] [name]")].map(each => each.name)')
      [*fields, 'sort'].uniq.map { |name| "#{path}?#{name}=#{CGI.escape(HostileTexts::MARKUP)}" }
    end
  end

  # @return [Array<String>] the paths that lead to data with markup in their names
  def links
    hrefs = browser.page.evaluate('[...document.links].map(link => link.getAttribute("href"))')
    hrefs.grep(/%3Cimg|%3Cscript/i).first(3)
  end

  # @return [Array<String>] elements that come from data, and traces of script
  def foreign
    elements = ['script:not([src])', 'img', 'iframe', '[onerror]', '[onload]', '[href^="javascript:" i]']
    found = elements.select { |selector| browser.count(selector).positive? }
    found << 'window.pwned' if browser.page.evaluate('window.pwned')
    found.map { |what| "#{browser.page.current_url}: #{what}" }
  end

  # @return [Boolean] whether the page shows the markup as text
  def shown?
    browser.page.evaluate("document.body.textContent.includes('<img src=x')")
  end

  it 'runs no script of the data, and shows it as text' do
    paths = SampleConsole.paths
    shown = paths.count do |path|
      browser.visit(path)
      expect(foreign).to eq([])
      paths.concat(links - paths) if paths.length < 80
      shown?
    end
    expect(shown).to be > 20
    # The API takes no names of keys with markup.
    expect(browser.messages.grep_v(/status of 400/)).to eq([])
  end

  it 'runs no script of declared access rights' do
    %w[/access/bindings /access/plan /access/explain?path=environments%2Fproduction%2Fshop].each do |path|
      browser.visit(path)
      expect(browser.text).to include('\\<img src=x')
      expect(foreign).to eq([])
    end
    expect(browser.messages).to eq([])
  end

  it 'runs no script of what a form shows again' do
    FormPages.new(@console, HostileTexts::MARKUP).each do |said|
      expect(browser.text).to match(said)
      expect(foreign).to eq([])
    end
    expect(browser.messages.grep_v(/status of (400|409|412) /)).to eq([])
  end

  it 'runs no script of an address' do
    tried = addresses
    expect(tried.length).to be > 15
    expect(tried.flat_map { |address| browser.visit(address) && foreign }).to eq([])
    expect(browser.messages.grep_v(/Failed to load resource/)).to eq([])
  end
end
