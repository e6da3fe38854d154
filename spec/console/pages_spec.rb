# frozen_string_literal: true

require 'open3'
require_relative '../server/server_helper'
require_relative '../support/console_pages'

RSpec.describe 'The pages of the console' do
  include ConsolePages

  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  it 'are at the root for browsers, where the API has its versions for other clients' do
    expect(page('/')).to have_attributes(status: 200, headers: include('content-type' => 'text/html; charset=utf-8'),
                                         body: include('<h1>Overview</h1>'))
    expect(client.get('/').data['versions'].first['id']).to eq('v1')
  end

  it 'load nothing from elsewhere, run in no frame, and are not kept' do
    headers = page('/').headers
    expect(headers['content-security-policy']).to start_with("default-src 'none';").and include(
      "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"
    )
    expect(headers).to include('cache-control' => 'no-store', 'x-frame-options' => 'deny',
                               'referrer-policy' => 'same-origin')
  end

  it 'have files that browsers may keep' do
    path = page('/').body[%r{/console/console\.css\?v=\h+}]
    expect(page(path)).to have_attributes(status: 200, headers: include('content-type' => 'text/css',
                                                                        'cache-control' => include('immutable')))
    expect(page('/console/console.rb').status).to eq(404)
  end

  it 'say what is wrong on a page' do
    expect(page('/nodes/a/b/c/d')).to have_attributes(
      status: 404, headers: include('content-type' => 'text/html; charset=utf-8'),
      body: include('there is no page /nodes/a/b/c/d')
    )
  end

  # A client of the API gets a problem in JSON for the same request.
  it 'say on a page why a request is refused before it comes to one' do
    form = ['POST /keys/a', { 'Content-Type' => 'text/plain', 'Content-Length' => 2_000_000 }, 'x' * 2_000_000]
    { 400 => ['GET /nodes/%zz', {}], 403 => ['GET /nodes', { 'Origin' => 'http://evil.example' }],
      421 => ['GET /nodes', { 'Host' => 'evil.example' }], 413 => form }.each do |status, (line, headers, body)|
      answer = exchange(line, headers.merge('Accept' => 'text/html'), body.to_s)
      expect(answer).to have_attributes(status: status, headers: include(
        'content-type' => 'text/html; charset=utf-8', 'content-security-policy' => include("script-src 'self'")
      ), body: include('class="problem"').and(match(/simpkv [\d.]+</)))
      expect(exchange(line, headers, body.to_s)).to have_attributes(
        status: status, headers: include('content-type' => 'application/problem+json')
      )
    end
  end

  # The link used to lead to the page of `a`.
  it 'have links to names with characters that mean something in an address' do
    name = 'a?b#c&d;e%41+f [x]'
    estate = Simpkv::Estate.new(options).tap(&:make)
    estate.facts.save('web1', { name => { name => 'found' } })
    store.put("environments/production/#{name}/#{name}", '{"value":1}')
    { '/facts' => 'found', '/keys/?filter=a' => 'disallowed whitespace' }.each do |path, shown|
      link = links(page(path)).find { |address| address.include?('a%3Fb%23c%26d%3Be%2541%2Bf%20%5Bx%5D') }
      expect(text(page(link))).to include(name, shown)
    end
  end

  it 'take no other methods than those of browsers, and change nothing' do
    store.put('environments/production/a', '{"value":1}')
    %w[PUT DELETE PATCH OPTIONS TRACE].product(%w[/keys/a /nodes/web1 /rules /console/console.css]).each do |line|
      answer = exchange(line.join(' '), 'Accept' => 'text/html')
      expect(answer).to have_attributes(status: 405, headers: include('allow' => 'get, head, post'))
      expect(text(answer)).to include("pages do not take #{line.first}")
    end
    expect(exchange('HEAD /keys/a', {})).to have_attributes(status: 200, body: '')
    expect(store.list('environments/production')[:keys].keys).to eq(%w[a])
  end

  it 'refuse a form that cannot be read' do
    urlencoded = 'application/x-www-form-urlencoded'
    part = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
    wide = "Content-Type: text/plain; charset=utf-16\r\n\r\n"
    forms = [[urlencoded, '%zz=%'], [urlencoded, '_token=%ff%'], [urlencoded, 'a=1&a[b]=2'],
             [urlencoded, "a#{'[b]' * 5000}=1"], [urlencoded, 'a=1&' * 10_000],
             ['multipart/form-data; boundary=x', ''], ['multipart/form-data', ''],
             ['multipart/form-data; boundary=x', "#{part.sub(/;.*/, '')}1\r\n--x--\r\n"],
             ['multipart/form-data; boundary=x', "#{part.chomp("\r\n")}#{wide}1\r\n--x--\r\n"],
             ['multipart/form-data; boundary=x', 'rubbish'], ['multipart/form-data; boundary=x', part],
             ["multipart/form-data; boundary=#{'x' * 500}", 'rubbish'],
             ['multipart/form-data; boundary=x', "#{part}1\r\n" * 5000]]
    forms.each do |type, body|
      answer = exchange('POST /keys/a', { 'Content-Type' => type, 'Content-Length' => body.bytesize }, body)
      expect([answer.status, text(answer)]).to match([400, /malformed form: nothing was changed/]), body[0, 20]
    end
    expect(service.log).not_to include('internal error')
  end

  # All files of the console add methods to one class.
  it 'do not replace methods of one another' do
    out, status = Open3.capture2e(RbConfig.ruby, '-w', '-I', File.expand_path('../../lib', __dir__), '-e',
                                  'require "simpkv/server"')
    expect(status).to be_success
    expect(out.lines.grep(%r{/simpkv/server/.*redefined})).to be_empty
  end

  it 'refuse a form without the token, or of a page of another site' do
    refused = [send_form('/keys/a', {}), send_form('/keys/a', '_token' => 'x' * 64),
               send_form('/keys/a', {}, 'Origin' => 'http://evil.example'),
               send_form('/keys/a', {}, 'Sec-Fetch-Site' => 'cross-site')]
    expect(refused).to all(have_attributes(status: 403))
    expect(store.list('environments/production', required: false)).to be_nil.or include(keys: {})
  end
end
