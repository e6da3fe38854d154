# frozen_string_literal: true

require 'json'
require_relative '../support/clock'

RSpec.describe Simpkv::Versions do
  include Clock

  before { clock_at('2026-11-23T15:00:00Z') }

  def document(value, metadata = {})
    Simpkv::Codec.encode(value, metadata)
  end

  def with_expiry(expires)
    JSON.generate('value' => 1, 'metadata' => {}, 'expires' => expires)
  end

  # @return [String, nil] the last document after a put of each value with these options
  def puts_of(*values, **options)
    values.reduce(nil) { |stored, value| described_class.successor(document(value), stored, **options) || stored }
  end

  def history(document)
    JSON.parse(document).fetch('history', []).map { |version| version['value'] }
  end

  describe '.expired?' do
    it 'decides by the time of the document, with 60 s of tolerance' do
      { '2026-11-23T14:58:59Z' => true, '2026-11-23T14:59:00Z' => true, '2026-11-23T14:59:01Z' => false,
        '2026-11-23T15:00:00Z' => false, '2020-02-29T00:00:00Z' => true, '2038-01-19T03:14:08Z' => false,
        '9999-12-31T23:59:59Z' => false, '0001-01-01T00:00:00Z' => true }.each do |expires, expired|
        expect([expires, described_class.expired?(with_expiry(expires))]).to eq([expires, expired])
      end
    end

    it 'takes all times of RFC 3339' do
      { '2026-11-23T15:59:00+01:00' => true, '2026-11-23T15:59:01+01:00' => false, '2026-11-23T09:29:00-05:30' => true,
        '2026-11-23t14:59:00.999z' => true, '2026-11-23T14:59:01.001Z' => false, '2016-12-31T23:59:60Z' => true,
        '2026-11-23T09:29:01-05:30' => false }.each do |expires, expired|
        expect([expires, described_class.expired?(with_expiry(expires))]).to eq([expires, expired])
      end
    end

    it 'refuses what is not a time, and does not quote it' do
      ['', 'soon', 1_700_000_000, true, [], {}, '2026-11-23', '2026-11-23 15:00:00Z', '2026-11-23T15:00:00',
       '2026-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z',
       '2026-11-00T00:00:00Z', '2026-11-23T24:00:00Z', '2026-11-23T15:60:00Z', '2026-11-23T15:00:61Z',
       '2026-11-23T15:00:00+24:00', "2026-11-23T15:00:00Z\n", '12026-11-23T15:00:00Z'].each do |expires|
        expect { described_class.expired?(with_expiry(expires)) }.to raise_error(Simpkv::MalformedError) do |error|
          expect(error.message).to eq("Failed to deserialize: 'expires' is not a time such as 2026-11-23T15:00:00Z")
        end
      end
    end

    it 'finds the member whatever its spelling, and nothing elsewhere' do
      [['{"value":1,"expire\u0073":"2020-01-01T00:00:00Z"}', true],
       ['{"value":{"expires":"2020-01-01T00:00:00Z"}}', false],
       ['{"value":"\"expires\":\"2020-01-01T00:00:00Z\""}', false], ['{"value":1,"expires":null}', false],
       ['{"value":1}', false], ["{\"value\":\"\xFF\"}", false],
       ['{"value":1,"expires":"2020-01-01T00:00:00Z"}'.b, true]].each do |json, expired|
        expect(described_class.expired?(json)).to be(expired)
      end
    end

    it 'depends on the clock alone, whatever the time zone' do
      %w[UTC America/St_Johns Pacific/Kiritimati].each do |zone|
        in_zone(zone) do
          expect(described_class.expired?(with_expiry('2026-11-23T14:59:00Z'))).to be(true)
          expect(described_class.expired?(with_expiry('2026-11-23T14:59:01Z'))).to be(false)
          expect(described_class.now).to have_attributes(utc?: true, hour: 15)
        end
      end
    end

    it 'warns once a process that SIMPKV_NOW replaces the clock' do
      described_class.instance_variable_set(:@warned, false)
      clock_at('2026-11-23T15:00:00Z')
      expect { described_class.now }.to output(/\Asimpkv: the environment variable SIMPKV_NOW replaces/).to_stderr
      expect { described_class.now }.not_to output.to_stderr
      clock_at(nil)
      described_class.instance_variable_set(:@warned, false)
      expect { described_class.now }.not_to output.to_stderr
    end

    it 'uses the clock of the machine without SIMPKV_NOW' do
      clock_at(nil)
      text = ->(seconds) { (Time.now + seconds).utc.strftime('%Y-%m-%dT%H:%M:%SZ') }
      expect([-3600, -120, 0, 3600].map { |seconds| described_class.expired?(with_expiry(text.call(seconds))) })
        .to eq([true, true, false, false])
      expect(described_class.now.to_i).to be_within(60).of(Time.now.to_i)
    end

    it 'refuses a clock that is not a time' do
      clock_at('yesterday')
      expect { described_class.expired?(with_expiry('2026-11-23T14:59:00Z')) }
        .to raise_error(Simpkv::ConfigError, /SIMPKV_NOW must be a time such as/)
    end
  end

  describe '.successor' do
    it 'returns the document itself without options' do
      [nil, document('old'), document('new')].each do |stored|
        plain = document('other', 'a' => 1)
        expect(described_class.successor(plain, stored)).to be(plain)
      end
    end

    it 'adds the members after those of the document' do
      clock_at('2024-02-29T12:00:00Z')
      expect(puts_of('a', history: 3)).to eq('{"value":"a","metadata":{},"stored_at":"2024-02-29T12:00:00Z"}')
      expect(puts_of('a', expires_after: 366 * 86_400))
        .to eq('{"value":"a","metadata":{},"stored_at":"2024-02-29T12:00:00Z","expires":"2025-03-01T12:00:00Z"}')
      first = puts_of('a', expires_after: 60)
      clock_at('2024-03-01T12:00:00Z')
      expect(described_class.successor(document('b', 'm' => 1), first, history: 2))
        .to eq('{"value":"b","metadata":{"m":1},"stored_at":"2024-03-01T12:00:00Z",' \
               '"history":[{"value":"a","metadata":{},"stored_at":"2024-02-29T12:00:00Z"}]}')
    end

    it 'is read by Codec as value and metadata' do
      expect(Simpkv::Codec.decode(puts_of(1, "\xFF".b, history: 2))).to eq(value: "\xFF".b, metadata: {})
      expect(Simpkv::Codec.decode(puts_of(1, 2, history: 2, expires_after: 60)))
        .to eq(value: 2, metadata: {}, expires: '2026-11-23T15:01:00Z')
    end

    it 'keeps the newest values, as many as the option says, 100 at most' do
      expect(history(puts_of(*1..9, history: 3))).to eq([8, 7, 6])
      expect(history(puts_of(*1..9, history: 0))).to eq([])
      expect(history(puts_of(*1..103, history: 1000))).to eq((3..102).to_a.reverse)
    end

    it 'keeps no more than 256 KiB of values: the oldest goes first' do
      values = (1..5).map { |number| number.to_s * 100_000 }
      expect(history(puts_of(*values, history: 100)).map { |value| value[0] }).to eq(%w[4 3])
      expect(history(puts_of('x' * 300_000, 'y', history: 100))).to eq([])
      json = puts_of('x' * ((256 * 1024) - 70), 'y', history: 100)
      expect(json[/"history":\[(.*)\]}\z/, 1].bytesize).to be_between((256 * 1024) - 40, 256 * 1024)
    end

    it 'adds nothing for an equal value, and something for other metadata' do
      stored = puts_of('a', 'b', history: 3)
      expect(described_class.successor(document('b'), stored, history: 3)).to be_nil
      expect(history(described_class.successor(document('b', 'm' => 1), stored, history: 3))).to eq(%w[b a])
      expect(described_class.successor(document('old'), document('old'), history: 3)).to be_nil
    end

    it 'shortens the history of an equal value' do
      stored = puts_of(*1..5, history: 4)
      expect(described_class.successor(document(5), stored, history: 5)).to be_nil
      expect(history(described_class.successor(document(5), stored, history: 2))).to eq([4, 3])
      expect(history(described_class.successor(document(5), stored, history: 0))).to eq([])
      expect(history(described_class.successor(document(5), stored, expires_after: 60))).to eq([4, 3, 2, 1])
    end

    it 'renews an equal value if less than half of its time is left, or more than all of it' do
      stored = puts_of('a', 'b', history: 3, expires_after: 100)
      { '2026-11-23T15:00:50Z' => nil, '2026-11-23T15:00:51Z' => '2026-11-23T15:02:31Z',
        '2026-11-23T14:59:59Z' => '2026-11-23T15:01:39Z', '2027-11-23T15:00:00Z' => '2027-11-23T15:01:40Z' }
        .each do |time, expires|
        clock_at(time)
        renewed = described_class.successor(document('b'), stored, history: 3, expires_after: 100)
        expect(renewed && JSON.parse(renewed)['expires']).to eq(expires)
        expect(renewed).to be_nil.or(eq(stored.sub('2026-11-23T15:01:40Z', expires.to_s)))
      end
      expect(described_class.successor(document('b'), stored, expires_after: 99)).to include('15:01:39Z')
    end

    it 'adds or removes the expiry of an equal value as the option says' do
      stored = described_class.successor(document('a'), document('a'), expires_after: 60)
      expect(JSON.parse(stored)).to include('expires' => '2026-11-23T15:01:00Z')
      expect(described_class.successor(document('a'), stored)).to eq(document('a'))
      expect(described_class.successor(document('a'), stored, history: 1)).to eq(stored.sub(/,"expires":"[^"]*"/, ''))
    end

    it 'keeps the value of an expired document without the option, and nothing of a live one' do
      stored = puts_of('a', expires_after: 60)
      expect(described_class.successor(document('b'), stored)).to eq(document('b'))
      clock_at('2026-11-23T15:02:00Z')
      expect(history(described_class.successor(document('b'), stored))).to eq(['a'])
      expect(history(described_class.successor(document('b'), stored, history: 0))).to eq([])
      longer = puts_of('a', 'b', 'c', history: 5, expires_after: 60)
      clock_at('2026-11-24T15:02:00Z')
      expect(history(described_class.successor(document('d'), longer))).to eq(%w[c b])
    end

    it 'keeps the encodings of values' do
      rich = Simpkv::Codec.encode({ '__ptype' => 'Sensitive', '__pvalue' => 'x' }, {}, 'pcore')
      stored = [document("\xFF".b), rich, document('plain')].reduce(nil) do |old, new|
        described_class.successor(new, old, history: 5)
      end
      expect([0, -1, -2, -3, 1].map { |number| described_class.version(stored, number) })
        .to eq([document('plain'), rich, document("\xFF".b), nil, nil])
      expect(described_class.all(stored)).to eq([document('plain'), rich, document("\xFF".b)])
    end

    it 'keeps numbers and the order of members as they are' do
      values = [{ 'z' => 1.0, 'a' => 2**70 }, [1.0e-05, 100_000_000_000_000.0, -0.0, nil, true], "\u2028\u0000é/"]
      stored = puts_of(*values, 'end', history: 5)
      documents = values.reverse.map { |value| document(value) }
      expect((1..3).map { |number| described_class.version(stored, -number) }).to eq(documents)
    end

    it 'replaces a document that cannot be read, and keeps the value if only the time is wrong' do
      ['nonsense', '[]', '{"value":1,"history":3}', '{"value":1,"history":[1]}'].each do |stored|
        expect(history(described_class.successor(document('a'), stored, history: 3))).to eq([])
      end
      wrong = with_expiry('soon')
      expect(history(described_class.successor(document('a'), wrong, history: 3))).to eq([1])
      expect(history(described_class.successor(document('a'), wrong))).to eq([1])
      expect(described_class.successor(document(1), wrong, expires_after: 60)).to include('"2026-11-23T15:01:00Z"')
    end

    it 'refuses a time after the year 9999, and values that no history could hold' do
      clock_at('9999-12-31T23:59:00Z')
      expect(puts_of('a', expires_after: 59)).to include('"9999-12-31T23:59:59Z"')
      expect { puts_of('a', expires_after: 60) }.to raise_error(Simpkv::InvalidError, /after the year 9999/)
      expect { puts_of('a', expires_after: 999_999_999 * 31_536_000) }.to raise_error(Simpkv::InvalidError, /9999/)
      deep = ->(levels) { (1..levels).reduce('secret') { |value, _| { 'k' => value } } }
      expect(described_class.version(puts_of(deep.call(97), 'b', history: 1), -1)).to eq(document(deep.call(97)))
      expect { puts_of(deep.call(98), history: 1) }
        .to raise_error(Simpkv::UnencodableError, /\Aa value nests too deeply for .*: it may have 2 levels less\z/)
    end

    it 'replaces a value that no history can hold, and keeps nothing older' do
      deep = Array.new(99).reduce('secret') { |value, _| { 'k' => value } }
      [document(deep), '{"value":1e999}'].each do |stored|
        stored = stored.sub(/}\z/, ',"expires":"2020-01-01T00:00:00Z","history":[{"value":1}]}')
        [{ history: 2 }, { expires_after: 60 }].each do |options|
          expect(described_class.successor(document('a'), stored, **options)).to match(/\A(?!.*history){"value":"a",/)
        end
      end
    end
  end

  it 'takes the time itself in place of a number of seconds' do
    time = Time.utc(2040, 2, 29, 12, 0, 0)
    stored = described_class.successor(document('a'), nil, expires: time.getlocal('+05:00'))
    expect(stored).to include('"expires":"2040-02-29T12:00:00Z"')
    expect(described_class.expires(stored)).to eq(time)
    expect(described_class.expires(document('a'))).to be_nil
    expect(described_class.successor(document('a'), stored, expires: time)).to be_nil
    expect(described_class.successor(document('a'), stored, expires: time + 1)).to include('12:00:01Z')
    expect { described_class.expires(with_expiry('soon')) }.to raise_error(Simpkv::MalformedError)
  end

  it 'counts the values of a history' do
    expect([nil, *1..3].each_cons(2).map { |_, last| described_class.count(puts_of(*1..last, history: 2)) })
      .to eq([0, 1, 2])
    expect { described_class.count('{"value":1,"history":[2]}') }.to raise_error(Simpkv::MalformedError, /'history'/)
  end

  describe '.log' do
    it 'lists versions and their times, and no values' do
      stored = puts_of('a', expires_after: 60)
      clock_at('2026-11-24T00:00:00Z')
      stored = described_class.successor(document('b'), stored, history: 2, expires_after: 60)
      expect(described_class.log(stored))
        .to eq([{ 'version' => 0, 'stored_at' => '2026-11-24T00:00:00Z', 'expires' => '2026-11-24T00:01:00Z' },
                { 'version' => -1, 'stored_at' => '2026-11-23T15:00:00Z' }])
      expect(described_class.log(document('a'))).to eq([{ 'version' => 0 }])
      expect { described_class.log('{"value":1,"history":{}}') }.to raise_error(Simpkv::MalformedError, /'history'/)
    end
  end
end
