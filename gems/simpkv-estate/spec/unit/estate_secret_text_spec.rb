# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/estate'
require 'openssl'

# Secrets of several lines, in every combination of a name, a format, and the text around them.
RSpec.describe Simpkv::Estate::ReportSecrets do
  names = %w[password api_key db_token]
  assignments = ['%s=', '%s: ', '"%s": ', "'%s' => ", '%s => ', '+%s = ', '-  %s: ', '$a["%s"] = ', ':%s => ',
                 'name: %s, value: ', '"name": "%s", "value": ', '<entry key="%s">', '--%s ']
  values = {
    'a quoted text' => "\"s3cret1\ns3cret2\"", 'a text in single quotes' => "'s3cret1\ns3cret2\n\ns3cret3'",
    'a text in backticks' => "`s3cret1\ns3cret2`", 'a text of TOML' => "\"\"\"s3cret1\ns3cret2\"\"\"",
    'a quoted text with quotes' => "\"s3cret1\\\" \\\"\ns3cret2\"", 'escaped quotes' => "\\\"s3cret1\ns3cret2\\\"",
    'a block of YAML' => "|\n  s3cret1\n\n  s3cret2", 'a folded block' => ">-\n  s3cret1\n  s3cret2",
    'a block with a comment' => "|2- # old\n  s3cret1\n  s3cret2", 'a tagged block' => "!!binary |\n  s3cret1",
    'a tag' => "!vault\n  s3cret1", 'a plain text of YAML' => "s3cret1\n       s3cret2\n\n       s3cret3",
    'a list of YAML' => "\n- s3cret1\n- s3cret2", 'a list of JSON' => "[\n\"s3cret1\",\n\"s3cret2\"\n]",
    'a call' => "x] Sensitive(\ns3cret1\n)", 'a document of the shell' => "$(cat <<-'EOF'\ns3cret1\nEOF\n)",
    'a document of Puppet' => "@(EOT)\ns3cret1\n| EOT", 'a line that goes on' => "s3cret1 \\\ns3cret2",
    'JSON' => '"s3cret1\\ns3cret2"', 'nothing before the next line' => "\ns3cret1"
  }
  surroundings = {
    'a message' => ->(text) { text }, 'a line of a diff that is new' => ->(text) { text.gsub(/^/, '+') },
    'a line of a diff that is old' => ->(text) { text.gsub(/^/, '-') },
    'a line of a diff' => ->(text) { text.gsub(/^/, ' ') },
    'the old and the new value' => ->(text) { "content changed '#{text}' to '#{text}'" },
    'a longer text' => ->(text) { "it's\n\n#{text}\nport = 7" }
  }

  def shown(text)
    secrets = described_class.new(Simpkv::Estate::SecretNames::USUAL)
    report = { 'events' => [{ 'message' => text }], 'logs' => [{ 'message' => text, 'source' => 'Puppet' }],
               'values' => [{ 'old' => [text], 'new' => { 'x' => text } }] }
    report = secrets.report(report)
    texts = [report['events'][0]['message'], report['logs'][0]['message'], *report['values'][0]['old'],
             report['values'][0].dig('new', 'x')]
    expect(texts.uniq.length).to eq(1)
    texts.first
  end

  values.each do |what, value|
    surroundings.each do |where, around|
      it "hide #{what} in #{where}, whatever its name" do
        texts = names.product(assignments).map { |name, assignment| around.call(format(assignment, name) + value) }
        expect(texts.map { |text| shown(text) }.zip(texts).select { |text, _| text.include?('s3cret') }).to be_empty
      end
    end
  end

  keys = %w[RSA EC DSA OPENSSH ENCRYPTED PGP].map { |kind| "#{kind} PRIVATE KEY#{' BLOCK' if kind == 'PGP'}" }
  keys += ['PRIVATE KEY', 'OpenVPN Static key V1']
  keys.product(surroundings.to_a).each do |kind, (where, around)|
    it "hide a #{kind} without a name in #{where}" do
      block = "-----BEGIN #{kind}-----\nProc-Type: 4\n\ns3cret1\ns3cret2==\n-----END #{kind}-----"
      texts = [block, block.gsub("\n", "\r\n"), block.gsub("\n", '\n'), block.gsub("\n", '\\\\\\n'),
               "x: #{block}", block.gsub("\n", "\n      "), "ssh:\n  key: |\n#{block.gsub(/^/, '    ')}",
               block[0..-20], block[/^s3cret1.*/m], "#{block}\n#{block}"].map(&around)
      expect(texts.map { |text| shown(text) }).to all(satisfy { |text| !text.include?('s3cret') })
    end
  end

  it 'hide a real key, and keep what is around it, such as its certificate' do
    key = OpenSSL::PKey::EC.generate('prime256v1').to_pem
    public = "-----BEGIN CERTIFICATE-----\nMIIabc\n-----END CERTIFICATE-----\n"
    expect(shown("changed\n#{public}#{key}port = 7\n#{key}#{public}"))
      .to eq("changed\n#{public}[redacted]\nport = 7\n[redacted]\n#{public}")
  end

  { 'private_key: -----BEGIN RSA PRIVATE KEY-----\ns3cret' => 'private_key: [redacted]',
    "private_key: -----BEGIN RSA PRIVATE KEY-----\ns3cret\n-----END RSA PRIVATE KEY-----" => 'private_key: [redacted]',
    "content changed 'api_key=abc' to 'api_key=def\ns3cret'" => "content changed 'api_key=[redacted]\n",
    "a: 1\npassword: s3cret1\n  s3cret2\n\n  s3cret3\nb: 2" => "a: 1\npassword: [redacted]\nb: 2",
    "- name: DB_PASSWORD\n  value: s3cret\n" => "- name: DB_PASSWORD\n  value: [redacted]\n",
    '<property name="db.password" value="s3cret"/>' => '<property name="db.password" value=[redacted]',
    "<name>db.password</name>\n<value>s3cret</value>" => "<name>db.password</name>\n<value>[redacted]",
    "<password>s3cret1\ns3cret2</password>" => "<password>[redacted]\n",
    "+password\n+  => 's3cret'\n+port = 1\n" => "+password\n+  => [redacted]\n+port = 1\n",
    '{"content": "a\npsk=s3cret"}' => '{"content": "a\npsk=[redacted]',
    "changed 'requirepass s3cret' to 'requirepass s3cret'" => "changed 'requirepass [redacted]",
    "content changed '# x\nrequirepass s3cret\nport 7" => "content changed '# x\nrequirepass [redacted]\n",
    "\e[0;32mpsk: s3cret" => "\e[0;32mpsk: [redacted]",
    "ALTER USER felix PASSWORD 's3cret'" => 'ALTER USER felix PASSWORD [redacted]',
    "['mysql', '--password', 's3cret']" => "['mysql', '--password', [redacted]",
    'password&quot;: &quot;s3cret' => 'password&quot;: [redacted]', 'a?password%3Ds3cret' => 'a?password%3D[redacted]',
    'https:\/\/felix:s3cret@h\/x' => 'https:\/\/felix:[redacted]@h\/x',
    'postgres://felix:s3/cret@h/x' => 'postgres://felix:[redacted]@h/x' }.each do |text, expected|
    it("make #{expected.inspect} of #{text.inspect}") { expect(shown(text)).to eq(expected) }
  end

  ["password_policy\n  port: 1", "the user's home\ndoesn't exist: 'x'", '-----BEGIN CERTIFICATE-----\nMII',
   "+a: 1\n+  b: 2\n", 'https://h:80/x@y', 'name: port, value: 7'].each do |text|
    it("keep #{text.inspect}") { expect(shown(text)).to eq(text) }
  end

  it 'hide what follows an open secret in a list, and a value beside the name of a secret' do
    secrets = described_class.new(Simpkv::Estate::SecretNames::USUAL)
    values = { 'a' => ['mysql', '--password', 's3cret', 'x'], 'b' => ['-----BEGIN PRIVATE KEY-----', 's3cret'],
               'c' => { 'name' => 'DB_PASSWORD', 'value' => 's3cret' }, 'd' => { 'http://a:s3cret@h' => 1 } }
    expect(secrets.values(values, false))
      .to eq('a' => ['mysql', '--password', *['[redacted]'] * 2], 'b' => ['[redacted]'] * 2,
             'c' => { 'name' => 'DB_PASSWORD', 'value' => '[redacted]' }, 'd' => { 'http://a:[redacted]@h' => 1 })
  end

  it 'hide a secret that a command has printed in several lines of the log' do
    secrets = described_class.new(Simpkv::Estate::SecretNames::USUAL)
    sources = [*['/Exec[a]/returns'] * 3, '/Exec[b]/returns', 'Puppet']
    messages = ['-----BEGIN PRIVATE KEY-----', 's3cret', '-----END PRIVATE KEY-----', 'done', 'applied']
    logs = sources.zip(messages).map { |source, message| { 'source' => source, 'message' => message } }
    expect(secrets.logs(logs).map { |line| line['message'] }).to eq([*['[redacted]'] * 3, 'done', 'applied'])
  end

  it 'read a large text of any form in time that grows with its length' do
    secrets = described_class.new(Simpkv::Estate::SecretNames::USUAL)
    ['-----BEGIN ', '-----BEGIN RSA PRIVATE KEY-----', '-----END RSA PRIVATE KEY-----', '-', '- ', "\n- ", "\n-", '<a ',
     '://a:b@/', ':\/\/', "`'", '\n', '\n-', 'password ', "password=x\n", "password=x\n b\n", '([', 'password"',
     'password <', "<password>\n"].each do |part|
      text = part * (200_000 / part.length)
      begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      secrets.values({ 'new' => "#{text}password=(x" }, false)
      expect([part, Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun]).to match([part, be < 30])
    end
  end
end
