# frozen_string_literal: true

require 'json'

# The pages of the console to which only forms lead: outcomes of tests, previews, conflicts with another operator, and
# what was done.
class FormPages
  UUID = '6f0c0000-0000-4000-8000-0000000000ff'
  RULES = '/v1/inspection_rules'
  KEY = 'shop/draft'
  IMPORT = 'main form:not([enctype]) button'
  OVERTAKEN = 'Another operator has changed the rule since this page was shown'
  private_constant :UUID, :RULES, :KEY, :IMPORT, :OVERTAKEN

  # @param console [SampleConsole] started
  # @param text [String] in a rule and in a key
  def initialize(console, text)
    @browser = console.browser
    @client = console.service.client
    @text = text
    @rule = { 'uuid' => UUID, 'description' => text, 'actions' => [{ 'op' => 'fail', 'args' => [text] }] }
  end

  # Sends the forms in the browser. The store is as before afterwards.
  #
  # @yieldparam said [String, Regexp] what the page that the browser shows has to say
  # @return [void]
  def each(&block)
    test(&block)
    import(&block)
    change_rule(&block)
    change_key(&block)
  end

  private

  # Sends a form, and yields when the browser shows the next page.
  def send_form(button, said)
    @browser.click(button)
    yield said
  end

  def test(&block)
    @browser.visit('/rules/test?certname=web01.brn.example.org')
    send_form('.beside button', /The rules accept the node|The node is refused/, &block)
    @browser.fill('#rules', JSON.generate(@rule))
    send_form('.beside button', /The node is refused by the rule .*#{Regexp.escape(@text)}/, &block)
    @browser.fill('#rules', '{')
    send_form('.beside button', /^rules: /, &block)
  end

  def import(&block)
    @browser.visit('/rules/import').fill('#text', JSON.generate([@rule]))
    send_form('form[enctype] button', 'What the import would do: 1 created', &block)
    @client.post("#{RULES}/import", [@rule.merge('priority' => 7)])
    send_form(IMPORT, 'Another operator has changed rules since this page was shown', &block)
    send_form(IMPORT, 'The rules are imported', &block)
  end

  def change_rule(&block)
    @browser.visit("/rules/#{UUID}/edit")
    prioritize(8)
    send_form('.beside button', /#{OVERTAKEN}.*The rule as it is now/m, &block)
    @browser.visit("/rules/#{UUID}/delete")
    prioritize(9)
    send_form('button.danger', OVERTAKEN, &block)
    send_form('button.danger', 'The rule is deleted.', &block)
  end

  def prioritize(value)
    @client.patch("#{RULES}/#{UUID}", [{ 'op' => 'add', 'path' => '/priority', 'value' => value }])
  end

  def change_key(&block)
    store(1)
    @browser.visit("/keys/#{KEY}?do=edit").fill('textarea[name=value]', @text)
    store(2)
    send_form('form[action$="do=save"] button', /Somebody else has changed this key.*Replace what somebody/m, &block)
    @browser.visit("/keys/#{KEY}?do=delete")
    store(3)
    send_form('button.danger', 'Somebody else has changed or deleted this key meanwhile', &block)
    @client.delete("/v1/keys/#{KEY}")
  end

  def store(number)
    @client.put("/v1/keys/#{KEY}", 'value' => "#{@text}#{number}", 'metadata' => { 'note' => @text })
  end
end
