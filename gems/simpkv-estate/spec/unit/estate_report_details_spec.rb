# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/estate'
require_relative '../support/estate_files'

RSpec.describe Simpkv::Estate::ReportDetails do
  include_context 'with an estate in files'

  let(:options) { { 'reports' => 2 } }
  let(:folder) { File.join(root, 'globals/estate/reports/web1') }
  let(:stored) { estate.reports.latest('web1') }

  def line(message, level: 'notice', source: 'Puppet')
    { 'level' => level, 'message' => message, 'source' => source, 'tags' => [level], 'file' => nil }
  end

  def event(resource, property, values = { 'old' => 'a', 'new' => 'b' }, status: 'success')
    { 'resource' => resource, 'property' => property, 'status' => status, 'message' => "#{property} changed",
      'values' => values }
  end

  def save(events: [], logs: [line('Applied catalog in 0.02 seconds')], **options)
    members = { 'time' => '2026-11-23T01:00:00.5Z', 'status' => 'changed', 'environment' => 'production' }
    open_estate({ 'reports' => 2 }.merge(options.transform_keys(&:to_s)))
      .reports.save('web1', Simpkv::Estate::WholeReport.new(members, {}, events, logs, {}))
  end

  def details
    estate.reports.with_details('web1', estate.reports.all('web1')).first
  end

  def folders
    Dir.glob('**/*', base: folder).sort
  end

  it 'are one document with the report of a run that only says that it has ended' do
    save
    expect(details['logs']).to eq([line('Applied catalog in 0.02 seconds').compact])
    expect(folders).to eq(%w[1])
  end

  it 'are a document of their own with values, which nobody reads who lists the reports' do
    save(events: [event('File[/a]', 'mode', { 'old' => '0600', 'new' => '0644' }), event('Exec[b]', 'returns', nil)])
    expect(folders).to eq(%w[1 details details/1])
    expect(stored['events'].map(&:keys)).to all(contain_exactly('resource', 'property', 'status', 'message'))
    expect(details['values']).to eq([{ 'old' => '0600', 'new' => '0644' }, nil])
  end

  it 'vanish with the report that a run without changes replaces' do
    save(events: [event('File[/a]', 'mode')])
    2.times { save }
    expect(folders).to eq(%w[0 1 details])
  end

  it 'cost a run no look at the report that it replaces if none had a document of late' do
    save(events: [event('File[/a]', 'mode')])
    3.times { save }
    read = []
    site = open_estate('reports' => 2)
    allow(site.store).to receive(:get).and_wrap_original do |get, key, **more|
      read << key
      get.call(key, **more)
    end
    site.reports.save('web1', Simpkv::Estate::WholeReport.new({ 'status' => 'changed' }, {}, [], []))
    expect(read).to eq(%w[globals/estate/status/web1])
  end

  it 'vanish with a report that is too old, and with the node' do
    save(events: [event('File[/a]', 'mode')])
    file = File.join(folder, '1')
    File.write(file, File.read(file).sub(/"received":"\d+/, '"received":"2001'))
    expect(open_estate('report_ttl' => '1h').reports.expire).to eq(1)
    expect(folders).to eq(%w[details])
    save(events: [event('File[/a]', 'mode')])
    expect(estate.reports.delete('web1')).to be(true)
    expect(File.exist?(folder)).to be(false)
  end

  it 'are none of a report that another one has replaced since' do
    save(events: [event('File[/a]', 'mode')])
    before = estate.reports.all('web1')
    2.times { save(events: [event('File[/b]', 'mode')]) }
    expect(estate.reports.with_details('web1', before)).to eq(before)
  end

  # Such a report was shown as if it had no details.
  it 'are read again if a run replaces the report meanwhile' do
    2.times { save(events: [event('File[/a]', 'mode')]) }
    disturbed = (1..6).map do |moment|
      reader = open_estate(options, moment => -> { save(events: [event('File[/b]', 'mode')]) })
      expect(reader.reports.whole('web1').map { |report| report['values'].length }).to eq([1, 1])
      reader.store.calls >= moment
    end
    expect(disturbed.first(2)).to eq([true, true])
  end

  it 'are an error, or told with the key, if the process has died that was to replace the report' do
    2.times { save(events: [event('File[/a]', 'mode')]) }
    file = File.join(folder, 'details/1')
    File.write(file, File.read(file).sub(/"details":"\Kd\h+/, 'd0'))
    told = []
    reports = estate.reports.whole('web1') { |key, why| told << [key, why] }
    expect([reports.map { |report| report.key?('values') }, told])
      .to match([[true, false], [['globals/estate/reports/web1/1', /\Aits details are lost/]]])
    expect { estate.reports.whole('web1') }.to raise_error(Simpkv::MalformedError, %r{reports/web1/1.*are lost})
  end

  it 'can be read of the other reports while a new one is written, and after its writer has died at any moment' do
    2.times { |number| save(events: [event("File[/#{number}]", 'mode')]) }
    whole = { 'old' => 'a', 'new' => 'b' }
    calls = (1..10).take_while do |moment|
      writer = open_estate({ 'reports' => 2 }, moment => -> { throw :death, :died })
      report = Simpkv::Estate::WholeReport.new({ 'status' => 'changed' }, {}, [event('A[b]', 'c', whole)], [])
      died = catch(:death) { writer.reports.save('web1', report) } == :died
      values = estate.reports.with_details('web1', estate.reports.all('web1')).map { |each| each['values'] }
      expect([moment, values]).to match([moment, [[whole], [whole]]]).or match([moment, [[whole], nil]])
      died
    end
    expect(calls.last).to be >= 3
    expect(details['values']).to eq([whole])
  end

  { 'that is missing' => nil, 'that unpacks to more than 8 MiB' => Zlib.deflate('0' * 9_000_000),
    'that is not compressed' => 's3cret', 'that is no list' => Zlib.deflate('{"logs":7}') }.each do |what, bytes|
    it "are an error with the key if they are a document #{what}" do
      save(events: [event('File[/a]', 'mode')])
      file = File.join(folder, 'details/1')
      text = File.read(file)
      File.delete(file)
      File.write(file, text.sub(/"zlib":".*?"/, %("zlib":"#{[bytes].pack('m0')}"))) if bytes
      expect { details }.to raise_error(Simpkv::MalformedError, %r{reports/web1/details/1})
    end
  end

  describe 'and secrets' do
    it 'have no values of what has the name of one' do
      save(events: [event('User[felix]', 'password'), event('Ini_setting[db_password]', 'value'),
                    event('Ini_setting[db_password]', 'ensure'),
                    event('Thing[x]', 'settings', { 'old' => 'absent', 'new' => { 'token' => 'a', 'port' => 1 } })])
      redacted = { 'old' => '[redacted]', 'new' => '[redacted]' }
      expect(details['values']).to eq([redacted, redacted, { 'old' => 'a', 'new' => 'b' },
                                       { 'old' => 'absent', 'new' => { 'token' => '[redacted]', 'port' => 1 } }])
      expect(stored['events'].map { |each| each['message'] }.first(2)).to eq(['[redacted]'] * 2)
    end

    { ['password changed', '/Stage[main]/Main/User[felix]/password'] => '[redacted]',
      ["value changed 'a'", '/Stage[main]/Main/Ini_setting[db_password]/value'] => '[redacted]',
      ["ensure changed 'absent' to 'present'", '/Stage[main]/Main/Ini_setting[db_password]/ensure'] =>
        "ensure changed 'absent' to 'present'",
      ["value changed 'old1' to 'hunter2'", '/Stage[main]/Main/Ini_setting[/etc/x.conf [db] password]/value'] =>
        '[redacted]',
      ["value changed 'old1' to 'hunter2'", '/Stage[main]/Main/Ini_setting[/etc/x.conf [db] password/value'] =>
        '[redacted]',
      ["changed 'a' to 'hunter2'", '/Stage[main]/Main/User[felix [x]]/password'] => '[redacted]',
      ["mode changed '0600' to '0644'", '/Stage[main]/Profile::Passwords/Profile::Db/File[/a]/mode'] =>
        "mode changed '0600' to '0644'" }.each do |(message, source), shown|
      it "have the line #{shown.inspect} of a log for #{message.inspect} of #{source}" do
        save(logs: [line(message, source: source)])
        expect(details['logs'].map { |each| each['message'] }).to eq([shown])
      end
    end

    { "+db_password = 's3c ret'; port=1\n-api_token: abc\r\n port=1" =>
        "+db_password = [redacted]\n-api_token: [redacted]\r\n port=1",
      '{"kennwort" => "s3cret"}' => '{"kennwort" => [redacted]', 'das Kennwört: s3cret' => 'das Kennwört: [redacted]',
      '+Environment=DB_PASSWORD=s3cret' => '+Environment=DB_PASSWORD=[redacted]',
      'environment => ["DB_PASSWORD=s3cret"]' => 'environment => ["DB_PASSWORD=[redacted]',
      'cmd="mysql --password=s3cret"' => 'cmd="mysql --password=[redacted]',
      'opts: password=s3cret' => 'opts: password=[redacted]',
      'jdbc:mysql://h/db?user=a&password=s3cret' => 'jdbc:mysql://h/db?user=a&password=[redacted]',
      'Authorization: Bearer s3cret' => 'Authorization: [redacted]',
      'password: correct s3cret horse' => 'password: [redacted]',
      '"passwords": ["aaa", "s3cret"]' => '"passwords": [redacted]',
      "\"passwords\": [\n  \"s3cret\"\n]" => "\"passwords\": [redacted]\n",
      'password="a\"b c s3cret"' => 'password=[redacted]', '{\"password\": \"s3cret\"}' => '{\"password\": [redacted]',
      "password=\"s3cret\n s3cret" => "password=[redacted]\n", "+password: |\n+  s3cret" => "+password: [redacted]\n",
      "passwords:\n  - s3cret" => "passwords:[redacted]\n", "password = a \\\n s3cret" => "password = [redacted]\n",
      'mysql --password s3cret' => 'mysql --password [redacted]', "$a['password'] = s3cret" =>
        "$a['password'] = [redacted]",
      "-   requirepass s3cret\n+requirepass s3cret" => "-   requirepass [redacted]\n+requirepass [redacted]",
      '<password>s3cret</password>' => '<password>[redacted]', 'the API key: s3cret' => 'the API key: [redacted]',
      "the password\n  => 's3cret'\nport = 1\n" => "the password\n  => [redacted]\nport = 1\n",
      'Class[Db::Password::A] failed: mode=7' => 'Class[Db::Password::A] failed: mode=7',
      # Passwords in URLs have no name.
      'postgres://felix:s3cret@db/app?sslmode=require' => 'postgres://felix:[redacted]@db/app?sslmode=require',
      "changed 'https://a:s3@cret@h:8443/x' to 'redis://:s3cret@h'" =>
        "changed 'https://a:[redacted]@h:8443/x' to 'redis://:[redacted]@h'",
      'jdbc:mysql://a:s3cret?#:@h (x@y.org)' => 'jdbc:mysql://a:[redacted]@h (x@y.org)',
      '{"u":"amqp://a:s3cret@h","m":"x@y"}' => '{"u":"amqp://a:[redacted]@h","m":"x@y"}',
      'mongodb://a%40b:s%333cret@h1:27017,h2:27017/db' => 'mongodb://a%40b:[redacted]@h1:27017,h2:27017/db' }
      .merge(['ssh://git@h:22/a:b@c', 'felix@h at 12:30@noon', 'https://h:8080?mail=x@y and https://h:80#a@b',
              'http://h:80/x a:b@c', 'http://[::1]:80/ x:y@z', 'git@h:a/b@c',
              'at https://h: x@y'].to_h { |same| [same, same] }).each do |text, shown|
      it "have the text #{shown.inspect} for #{text.inspect}" do
        save(logs: [line(text)], events: [event('Exec[a]', 'returns', { 'new' => { 'lines' => [text] } })],
             secret_names: %w[kennwort kennwört])
        expect([details['logs'][0]['message'], details['values']]).to eq([shown, [{ 'new' => { 'lines' => [shown] } }]])
        expect(shown).not_to include('s3cret')
      end
    end

    it 'are replaced before a text or a source is cut' do
      text = "#{'x' * 9980} password='a s3cret"
      save(logs: [line("#{text} #{text}'"), line('s3cret', source: "User[#{text}]/password")])
      expect(details['logs'].map { |each| each['message'] }).to eq(["#{'x' * 9980} password=[redacted]", '[redacted]'])
    end

    it 'read a long line in time that grows with its length' do
      ['a' * 1_000_000, 'a=' * 50_000, "a #{' ' * 500_000}", 'a"' * 500_000, "a#{'"' * 500_000}", '- ' * 50_000,
       'é a' * 50_000, 'a://b:' * 100_000, "://a:#{'b' * 500_000}", "#{' a' * 1000}\n" * 50].each do |text|
        save(logs: [line(text), line("p='#{'\\' * 200_000}", source: "/Stage[main]#{'/A[' * 100_000}#{text}")])
        expect(details['logs'].map { |each| each['message'] }).to all(match(/\.\.\. \(\d+ more characters\)\z/))
      end
    end
  end

  describe 'and bounds' do
    let(:note) { details['logs'].last['message'] }

    it 'have failures first and skipped resources last, and a note of the others' do
      events = %w[skipped success failure].map { |status| event("A[#{status}]", 'p', status: status) }
      save(events: events, report_events: 2)
      expect(stored['events'].map { |each| each['status'] }).to eq(%w[failure success])
      expect(stored['events_left_out']).to eq(1)
      expect(note).to start_with('simpkv left out 1 event of this report: ')
    end

    it 'have errors and warnings rather than other lines, in their order' do
      save(logs: [line('1'), line('2', level: 'err'), line('3'), line('4', level: 'warning')], report_log_lines: 3)
      expect(details['logs'].map { |each| each['message'] })
        .to match(['1', '2', '4', start_with('simpkv left out 1 line of the log of this report: ')])
    end

    it 'have so many bytes, and a note of values and lines that did not fit' do
      values = { 'new' => 'x' * 3000 }
      save(events: Array.new(3) { |number| event("A[#{number}]", 'p', values) },
           logs: [line('y' * 2000), line('short')], report_bytes: 4096)
      expect(details['values'].map { |each| each&.fetch('new')&.length }).to eq([3000, nil, nil])
      expect(details['logs'].first['message']).to eq('short')
      expect(note).to start_with('simpkv left out 1 line of the log, the values of 2 events of this report')
    end
  end
end
