# frozen_string_literal: true

require_relative '../support/form_pages'
require_relative '../support/sample_console'

# Chromium looks at each page of a site with 1,000 nodes: examples/console/pages.txt names the pages.
RSpec.describe 'The console in a browser', needs: :cext do
  include Eventually

  before(:context) { @console = SampleConsole.new(1000, 3) }

  after(:context) { @console&.remove }

  let(:browser) { @console.browser }

  before { browser.reset }

  # @param paths [Array<String>]
  # @yieldparam browser [Browser] with each page
  # @return [Array<String>] all that the block returns, and the messages of the browser
  def walk(paths = SampleConsole.paths, &block)
    paths.flat_map { |path| block.call(browser.visit(path)) } + browser.messages
  end

  # @return [Array<String>] violations on the pages behind forms
  def violations_behind_forms
    found = []
    FormPages.new(@console, 'a draft').each do |said|
      expect(browser.text).to match(said)
      found.concat(browser.violations)
    end
    found
  end

  context 'over files' do
    before(:context) { @console.start }

    after(:context) { @console.stop }

    it 'shows each page as a whole, and with no violation of WCAG 2.2 AA in light and dark colors' do
      expect(walk { |page| page.faults + page.violations }.join("\n")).to eq('')
    end

    it 'has no finding of axe on a desk and on a phone, in light and dark colors', :long do
      sorted = %w[/keys/shop/?sort=stored&order=desc /nodes/web01.brn.example.org/reports?sort=when&order=asc]
      expect(walk(SampleConsole.paths + sorted, &:violations_everywhere).join("\n")).to eq('')
    end

    it 'shows each page without script' do
      browser.script = false
      expect(walk(&:faults).join("\n")).to eq('')
    end

    # The table of nodes had 194 kB, and each link of a page repeated parameters that mean nothing.
    it 'has pages of 100 kB at most with the most rows, whatever else their addresses have' do
      headers = "HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
      queries = %w[nodes reports facts resources events].map { |entity| "/query?query=#{entity}%7B%7D" }
      bodies = [*SampleConsole.paths, *queries].to_h do |path|
        rows = path.start_with?('/query') ? 100 : 200
        address = "#{path}#{path.include?('?') ? '&' : '?'}limit=#{rows}&unknown=#{'x' * 5000}"
        [path, @console.service.client('tcp').exchange("GET #{address} #{headers}").body]
      end
      expect(bodies.transform_values(&:bytesize).select { |_, bytes| bytes > 100_000 }).to eq({})
      expect(bodies.select { |_, body| body.include?('xxx') || body.include?('must be a whole number') }.keys).to eq([])
    end

    it 'shows the value of a key, and a form with it, after a button was pressed only' do
      secret = 'k3y-of-the-shop-3'
      buttons = { 'button[form=show]' => 'pre', "form[action*='do=edit'] button" => 'textarea[name=value]' }
      buttons.each do |button, place|
        browser.visit('/keys/shop/db_password')
        expect(browser.page.body).not_to include(secret)
        expect(browser.tab_to(button)).to eq([])
        browser.press(:enter)
        eventually(errors: Ferrum::Error) { browser.count(place) == 1 }
        expect(browser.page.evaluate("document.querySelector('#{place}').textContent")).to include(secret)
        expect(browser.violations).to eq([])
      end
      expect(browser.messages).to eq([])
    end

    { 'with' => 'web01.brn', 'without' => 'db01.zrh' }.each do |with, host|
      it "sends forms that test rules and delete a key, #{with} script" do
        browser.script = with == 'with'
        browser.visit('/rules/test?certname=web01.brn.example.org').click('.beside button')
        expect(browser.text).to include('web servers').and include('role::web')
        # On a phone, the outcome is far below the form.
        expect(browser.page.current_url).to end_with('#outcome')
        browser.visit("/keys/hosts/#{host}.example.org?do=delete").click('button.danger')
        expect(browser.text).to include('The key is deleted.')
        expect(browser.messages).to eq([])
      end
    end

    it 'shows outcomes, previews and conflicts of forms, with no violation of WCAG 2.2 AA' do
      expect(violations_behind_forms.join("\n")).to eq('')
      # Chromium logs the status of the refused forms.
      expect(browser.messages.grep_v(/status of (400|409|412) /)).to eq([])
    end

    # The message had one word in a line, beside the whole path.
    it 'leaves room to the message of an event beside the path of its manifest' do
      browser.visit('/nodes/app04.zrh.example.org/reports/latest')
      columns = '[...document.querySelectorAll("#main td.place, #main td:has(> a[href*=event])")]'
      message, path = browser.page.evaluate("#{columns}.map(cell => cell.offsetWidth)")
      expect(message).to be > path / 2
    end

    # A line had "/etc/puppetlabs/code/environments/pro", and the next one "duction".
    it 'breaks paths and names on a phone between their parts, and leaves out dates for which a chart has no room' do
      { '/' => '.failures code', '/nodes/app04.zrh.example.org/reports/latest' => 'td.place',
        '/nodes/web01.brn.example.org/facts' => '.tree code', '/keys/shop/' => 'td:last-child' }.each do |path, place|
        broken = browser.visit(path).in_window(Browser::PHONE) { broken_words(place) }
        expect([path, broken]).to eq([path, []])
      end
      browser.visit('/nodes/web01.brn.example.org/reports')
      expect([Browser::PHONE, Browser::DESK].map { |window| browser.in_window(window) { overlaps } }).to eq([0, 0])
    end

    it 'has the tiles of the wall in a row, and no details of alerts that are long' do
      tops = 'new Set([...document.querySelectorAll(".tiles li")].map(tile => tile.offsetTop)).size'
      rows = browser.visit('/console/wall').in_window(Browser::DESK) { browser.page.evaluate(tops) }
      expect([rows, browser.count('.tiles li')]).to match([1, be > 3])
      expect(browser.text.lines.grep(/\u2026$/)).to eq([])
    end

    it 'names who has stored the keys of a folder' do
      expect(browser.visit('/keys/shop/').text)
        .to match(/Stored by/).and match(/^db_password\tkey\t20 days ago\t.*\(user \w+, node [\w.:]+\)$/)
    end

    it 'finds names after /, and has exact times in the title and in a copy' do
      browser.visit('/nodes').press('/')
      expect(browser.count('#everything:focus')).to eq(1)
      browser.follow { browser.press('db01', :enter) }
      expect(browser.page.current_url).to end_with('/search?q=db01')
      browser.click('main a[href^="/nodes/db01"]')
      time, title = browser.page.evaluate('(time => [time.dateTime, time.title])(document.querySelector("main time"))')
      expect([time, title]).to match([/\A\d{4}-\d\d-\d\dT[\d:]+Z\z/, /\A\w+, \w+ \d+, \d{4}/])
      expect(copied).to include(time)
      eventually(errors: RuntimeError) { !browser.text.include?(time) }
      expect(browser.count('h1 .copy')).to eq(1)
    end

    it 'leads to the content, through the menu and to the result of a form with Tab and Enter' do
      browser.visit('/')
      expect(browser.tab_to('a.skip')).to eq([])
      browser.press(:enter)
      expect(browser.count('main:focus')).to eq(1)
      browser.visit('/')
      expect(browser.tab_to('nav a[href="/nodes"]')).to eq([])
      browser.follow { browser.press(:enter) }
      expect(browser.page.current_url).to end_with('/nodes')
      expect(browser.tab_to('#q')).to eq([])
      browser.follow { browser.press('^web0', :enter) }
      expect(browser.page.current_url).to include('/nodes?q=%5Eweb0')
      expect(browser.count('tbody tr')).to be_between(1, 9)
    end
  end

  # @param selector [String]
  # @return [Array<String>] the texts without a place for a break of a line that have one, but not at a space
  def broken_words(selector)
    browser.page.evaluate(<<~JS)
      (() => {
        const found = [], range = document.createRange();
        for (const place of document.querySelectorAll(#{JSON.generate(selector)})) {
          const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            for (const word of walker.currentNode.data.matchAll(/\\S+/g)) {
              range.setStart(walker.currentNode, word.index);
              range.setEnd(walker.currentNode, word.index + word[0].length);
              if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) found.push(word[0]);
            }
          }
        }
        return found;
      })()
    JS
  end

  # @return [Integer] the number of texts below columns that overlap the one before, or reach beyond the chart
  def overlaps
    browser.page.evaluate(<<~JS)
      (() => {
        const texts = [...document.querySelectorAll('svg.chart text[text-anchor]')];
        const boxes = texts.map(text => text.getBoundingClientRect()).filter(box => box.width > 0);
        const chart = document.querySelector('svg.chart').getBoundingClientRect();
        const ends = [chart.left, ...boxes.map(box => box.right)];
        return boxes.filter((box, at) => box.left < ends[at] || box.right > chart.right).length;
      })()
    JS
  end

  # @return [String] what a copy of the whole page has
  def copied
    browser.page.execute(<<~JS)
      document.addEventListener('copy', () => { window.copied = getSelection().toString(); });
      getSelection().selectAllChildren(document.querySelector('main'));
      document.dispatchEvent(new ClipboardEvent('copy'));
    JS
    browser.page.evaluate('window.copied')
  end

  # Its service has two addresses of the directory, a declared user that a role lacks, and three compilers.
  context 'over a directory' do
    before(:context) do
      @directory = SampleConsole.directory
      @console.start_over(@directory)
    end

    after(:context) do
      @console.stop
      @directory&.stop
    end

    # Pages whose content a directory fills, and some of the others.
    let(:filled) do
      %w[/ /console/wall /access /access/roles /access/bindings /access/plan /nodes /nodes/web01.brn.example.org
         /access/explain?path=environments%2Fproduction%2Fshop /nodes/web01.brn.example.org/facts /keys/shop/
         /keys/shop/db_password /resources/File]
    end

    # Those over files are shown so above.
    it 'shows each page without script', :long do
      browser.script = false
      expect(walk(&:faults).join("\n")).to eq('')
    end

    it 'shows pages that the directory fills, with no violation of WCAG 2.2 AA in light and dark colors' do
      @console.wait_for_status
      texts = {}
      found = walk(filled) do |page|
        texts[page.path] = page.text
        page.faults + page.violations
      end
      expect(found.join("\n")).to eq('')
      expect(texts['/']).to match(/ldaps:\S+\tdefault\tup\tyes\t[\d.]+ ms\t[\d.]+ s\t.*\t\d+ days/)
        .and match(/compiler3.zrh.example.org\t1.0.0\s+default: 60303ae22b998861/)
        .and match(/differs from what is declared: differences: 1/)
      expect(texts.values_at('/access', '/access/roles', '/access/bindings', '/access/plan'))
        .to match([/compiler-production\tfile:.*present/, /shop-reader/, /lacks the member/,
                   /\+ member of role production/])
    end

    it 'has no finding of axe on a desk and on a phone, in light and dark colors', :long do
      @console.wait_for_status
      expect(walk(&:violations_everywhere).join("\n")).to eq('')
    end

    it 'shows outcomes, previews and conflicts of forms without script', :long do
      browser.script = false
      FormPages.new(@console, 'a draft').each { |said| expect(browser.text).to match(said) }
    end

    it 'tries passwords after a button, with no violation of WCAG 2.2 AA' do
      browser.visit('/access/plan').click('main form[method=post] button')
      expect(browser.text).to include('has bound as each user')
      expect(browser.violations + browser.messages).to eq([])
    end
  end
end
