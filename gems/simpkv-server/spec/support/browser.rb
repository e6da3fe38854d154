# frozen_string_literal: true

require 'bundler'
require 'ferrum'
require 'json'
require_relative '../../../../spec/support/eventually'

# Chromium with one page, and what it says about the page.
#
#   browser = Browser.new('http://127.0.0.1:8080')
#   browser.visit('/nodes').faults # => []
class Browser
  include Eventually

  PATH = '/usr/bin/chromium'
  # Beside these, Ferrum would turn off the same-origin policy. Root cannot use Chromium's sandbox. Chromium does not
  # know the authority of a service over TLS.
  OPTIONS = %w[no-sandbox ignore-certificate-errors no-first-run no-startup-window disable-background-networking
               disable-component-update disable-default-apps disable-extensions disable-sync disable-gpu
               hide-scrollbars mute-audio]
            .to_h { |name| [name, nil] }.merge('headless' => 'new', 'force-color-profile' => 'srgb',
                                               'password-store' => 'basic', 'remote-allow-origins' => '*').freeze
  WIDE = { width: 1280, height: 900 }.freeze
  # The width of a page that is enlarged to 400 % (WCAG 1.4.10).
  NARROW = { width: 320, height: 800 }.freeze
  # The file that bin/setup installs.
  AXE = File.join(Bundler.settings[:path].to_s, 'npm/node_modules/axe-core/axe.min.js')
  # Rules of WCAG 2.2 AA.
  TAGS = %w[wcag2a wcag2aa wcag21a wcag21aa wcag22aa].freeze
  # A phone, on which fingers hit targets.
  PHONE = { width: 390, height: 844 }.freeze
  DESK = { width: 1400, height: 900 }.freeze
  # The rules whose outcome depends on colors, and the one that depends on the width.
  COLORS = %w[color-contrast link-in-text-block].freeze
  WIDTH = %w[target-size].freeze
  BYTES_MAX = 100_000
  SECONDS = 60
  private_constant :PATH, :OPTIONS, :WIDE, :NARROW, :AXE, :COLORS, :WIDTH, :BYTES_MAX, :SECONDS

  # @param address [String] such as http://127.0.0.1:8080
  def initialize(address)
    @address = address
    @messages = []
    @settled = 0
    @chromium = Ferrum::Browser.new(
      browser_path: PATH, browser_options: OPTIONS, ignore_default_browser_options: true, base_url: address,
      timeout: SECONDS, process_timeout: SECONDS, window_size: WIDE.values, pending_connection_errors: true
    )
    @page = @chromium.create_page
    listen
    self.scheme = 'light'
  end

  # @return [Ferrum::Page]
  attr_reader :page

  # @return [String] that of the last visit
  attr_reader :path

  # @return [Array<String>] dialogs, errors and warnings of the pages since the last {#reset}, each with its page
  def messages
    settle
    @messages
  end

  # Forgets the messages, and turns script on, for the next example.
  def reset
    self.script = true
    messages.clear
  end

  def quit
    @chromium.quit
  end

  # Turns script on or off for the next pages.
  def script=(enabled)
    page.command('Emulation.setScriptExecutionDisabled', value: !enabled)
  end

  # Chooses colors, and no smooth scrolling.
  #
  # @param scheme [String] light or dark
  def scheme=(scheme)
    features = { 'prefers-color-scheme' => scheme, 'prefers-reduced-motion' => 'reduce' }
    page.command('Emulation.setEmulatedMedia', features: features.map { |name, value| { name: name, value: value } })
  end

  # @param path [String]
  # @return [Browser] self
  def visit(path)
    @path = path
    page.network.clear(:traffic)
    page.go_to(path)
    self
  end

  # @return [Array<Ferrum::Network::Exchange>] the requests of the page, its own first. Chromium may report the answer
  #   to it late. It also reports the end of requests of the page before, which are left out
  def exchanges
    eventually(errors: RuntimeError) { page.network.traffic.find(&:request)&.response }
    page.network.traffic.select(&:request)
  end

  # @return [Array<String>] what is wrong with the page as every page must be: its status, heading, size, width, and
  #   requests to other hosts. The messages are in {#messages}
  def faults
    settle
    document, *others = exchanges
    headings = count('h1')
    found = { "the status is #{document.response.status}" => document.response.status != 200,
              "it has #{headings} headings h1" => headings != 1,
              "it asks #{foreign(others).join(' ')}" => foreign(others).any?,
              "it has #{size(document)} bytes" => size(document) > BYTES_MAX,
              **[WIDE, NARROW].to_h { |window| too_wide(window) } }
    found.select { |_, wrong| wrong }.keys.map { |fault| "#{@path}: #{fault}" }
  end

  # @param rules [Hash] of axe; all of them by default
  # @return [Array<String>] violations in the light colors, of colors in the dark ones, and of the size of targets on a
  #   phone
  def violations(rules = {})
    light = axe(rules)
    phone = in_window(PHONE) { axe(runOnly: { type: 'rule', values: WIDTH }) }.map { |each| "#{each} (phone)" }
    self.scheme = 'dark'
    light + phone + axe(runOnly: { type: 'rule', values: COLORS }).map { |violation| "#{violation} (dark)" }
  ensure
    self.scheme = 'light'
  end

  # @return [Array<String>] violations of all rules, and pages that are too wide, on a desk and on a phone, in light and
  #   dark colors
  def violations_everywhere
    [DESK, PHONE].product(%w[light dark]).flat_map do |window, scheme|
      wide, fault = too_wide(window)
      self.scheme = scheme
      [*(wide if fault), *in_window(window) { axe({}) }]
        .map { |violation| "#{violation} (#{window[:width]} pixels, #{scheme})" }
    end
  ensure
    self.scheme = 'light'
  end

  # Shows the page in a window of another size, while the block looks at it.
  #
  # @param window [Hash] its size, such as {PHONE}
  def in_window(window)
    page.set_viewport(**window)
    yield
  ensure
    page.set_viewport(**WIDE)
  end

  # @param selector [String]
  # @return [Integer] the number of elements
  def count(selector)
    page.evaluate("document.querySelectorAll(#{JSON.generate(selector)}).length")
  end

  # Writes a picture of the page from its top, as wide as the window and at most a third higher.
  #
  # @param file [String] a PNG
  # @return [void]
  def save(file)
    height = [page.evaluate('document.documentElement.scrollHeight'), WIDE[:height] * 4 / 3].min
    in_window(WIDE.merge(height: height)) do
      page.execute('scrollTo(0, 0)')
      page.screenshot(path: file)
    end
  end

  # Waits for the page to which the block leads.
  #
  # @return [Browser] self
  def follow
    page.evaluate('window.left = true')
    yield
    eventually(errors: StandardError) { page.evaluate('!window.left && document.readyState === "complete"') }
    self
  end

  # @param selector [String] of an element that leads to another page
  # @return [Browser] self
  def click(selector)
    follow { page.execute("document.querySelector(#{JSON.generate(selector)}).click()") }
  end

  # Enters a text into a field, in place of what it has.
  #
  # @param selector [String]
  # @param text [String]
  # @return [Browser] self
  def fill(selector, text)
    page.execute("document.querySelector(#{JSON.generate(selector)}).value = #{JSON.generate(text)}")
    self
  end

  # @return [String] what a person reads on the page
  def text
    page.evaluate('document.body.innerText')
  end

  # Presses keys.
  def press(*keys)
    page.keyboard.type(*keys)
  end

  # Presses Tab until an element has the focus.
  #
  # @param selector [String]
  # @return [Array<String>] the elements on the way whose focus nobody sees
  def tab_to(selector)
    hidden = []
    200.times do
      press(:tab)
      hidden << focused unless focus_visible?
      return hidden if page.evaluate("document.activeElement.matches(#{JSON.generate(selector)})")
    end
    raise "Tab does not lead to #{selector}"
  end

  private

  def listen
    page.on('Runtime.consoleAPICalled') { |event| note(event.fetch('args').map { |each| each['value'] }.join(' ')) }
    page.on('Runtime.exceptionThrown') { |event| note(event.dig('exceptionDetails', 'exception', 'description')) }
    page.on('Log.entryAdded') { |event| note(event.dig('entry', 'text')) }
    page.on(:dialog) do |dialog|
      note("a dialog: #{dialog.message}")
      dialog.accept
    end
  end

  def note(text)
    number = text.to_s[/\Asettled (\d+)\z/, 1]
    number ? @settled = Integer(number) : @messages << "#{@path}: #{text}"
  end

  # Waits until all events before now have arrived.
  def settle
    number = @settled + 1
    page.evaluate("console.debug('settled #{number}')")
    eventually(errors: RuntimeError) { @settled == number }
  end

  # @return [Array<String>] the addresses of requests to other hosts
  def foreign(exchanges)
    exchanges.map(&:url).reject { |url| url.start_with?("#{@address}/") }
  end

  def size(exchange)
    page.command('Network.getResponseBody', requestId: exchange.request.id).fetch('body').bytesize
  end

  # @param window [Hash] its size
  # @return [Array(String, Boolean)] the fault, and whether the page has it
  def too_wide(window)
    wide = in_window(window) { page.evaluate('document.documentElement.scrollWidth') }
    ["it is #{wide} pixels wide in a window of #{window[:width]}", wide > window[:width]]
  end

  def axe(options)
    # The page's Content-Security-Policy does not hold for DevTools.
    page.command('Runtime.evaluate', expression: File.read(AXE)) unless page.evaluate('typeof axe === "object"')
    found = page.evaluate_async(<<~JS, SECONDS)
      const done = arguments[0];
      axe.run(document, { resultTypes: ['violations'], preload: false, ...#{JSON.generate(options)} })
         .then(result => done(result.violations.map(each => [each.id, each.nodes.map(node => node.html)])))
         .catch(error => done([['error', [String(error)]]]));
    JS
    found.map { |rule, nodes| "#{@path}: #{rule}: #{nodes.first(3).join(' ')}" }
  end

  def focused
    "#{@path}: #{page.evaluate('document.activeElement.outerHTML.slice(0, 200)')}"
  end

  def focus_visible?
    page.evaluate(<<~JS)
      (() => {
        const box = document.activeElement.getBoundingClientRect();
        const style = getComputedStyle(document.activeElement);
        return box.width > 0 && box.left >= 0 && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
      })()
    JS
  end
end
