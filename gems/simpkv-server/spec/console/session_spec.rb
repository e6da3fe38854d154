# frozen_string_literal: true

require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/scratch'
require_relative '../support/browser'
require_relative '../support/people'
require_relative '../support/service'

# Chromium signs in over TLS with accounts of a real directory.
RSpec.describe 'The page for signing in, in a browser', needs: :cext do
  before(:context) do
    @people = People.new.tap(&:start)
    %w[alice bob].each { |name| @people.add_person(name) }
    @people.add_group('operators', %w[alice])
    @folder = Scratch.make('session')
    @service = Service.new(site, '--bind', 'ssl://127.0.0.1:0').tap(&:start)
    @browser = Browser.new(@service.addresses.find { |each| each.start_with?('ssl') }.sub('ssl', 'https'))
  end

  after(:context) do
    @browser&.quit
    @service&.stop
    @people&.stop
    Scratch.remove(@folder)
  end

  let(:browser) { @browser }

  before { browser.reset }

  # @return [Hash] the configuration
  def site
    certificates = Certificates.new(@folder)
    certificate, key = certificates.issue
    store = { 'type' => 'file', 'id' => 'spec', 'root_path' => File.join(@folder, 'store') }
    Simpkv::Store.open('file', store.slice('root_path')).put('environments/production/app1/a', '{"value":1}')
    { 'backends' => { 'default' => store, 'people' => @people.backend },
      'server' => { 'tls_cert' => certificate, 'tls_key' => key, 'tls_ca' => certificates.cacert,
                    'sign_in' => @people.section,
                    'rights' => [{ 'group' => 'operators', 'methods' => ['GET'], 'paths' => ['/**'] }] } }
  end

  # @return [Browser] with the page to which the form leads
  def sign_in(name, password)
    browser.visit('/session/sign-in')
    { 'name' => name, 'password' => password }.each { |field, text| browser.fill("##{field}", text) }
    browser.click('main button')
  end

  # Chromium logs the status of a refused form.
  def expect_no_fault
    expect(browser.violations_everywhere.join("\n")).to eq('')
    expect(browser.messages.grep_v(/status of 403 /)).to eq([])
  end

  it 'has no finding of axe on a desk and on a phone, in light and dark colors' do
    expect(browser.visit('/nodes').page.current_url).to end_with('/session/sign-in?to=%2Fnodes')
    expect(browser.visit('/session/sign-in').faults).to eq([])
    expect_no_fault
  end

  it 'has none after a wrong password, and of an account that the directory has locked' do
    expect(sign_in('alice', 'wrong').text).to include('the user name or the password is wrong')
    expect([browser.count('#name[value=alice]'), browser.count('#password:focus')]).to eq([1, 1])
    expect_no_fault
    @people.lock('bob')
    expect(sign_in('bob', People::PASSWORD).text).to include('the directory has locked this account')
    expect_no_fault
  end

  it 'leads to pages with the name of the person, who signs out there' do
    expect(sign_in('alice', People::PASSWORD).text).to include('account:alice')
    browser.visit('/session')
    expect_no_fault
    expect(browser.click('main button').text).to include('You are signed out.')
    expect_no_fault
  end
end
