# frozen_string_literal: true

require_relative 'puppet_resource'
require_relative 'types_helper'
require_relative '../support/standing_clock'
require_relative '../support/key_file'

RSpec.shared_examples 'keys as resources that expire' do
  include StandingClock

  # Applies the resource of the key `k` with these parameters.
  def key!(parameters, **settings)
    apply!("simpkv_key { 'k': #{parameters} }", **settings)
  end

  # @return [Hash{String => Object}] the members of the document
  def stored
    JSON.parse(store.get("#{KeysAsResources::PRODUCTION}/k", latest: true))
  end

  def values
    [stored, *stored['history']].map { |version| version['value'] }
  end

  it 'are stored with the time, and renewed when less than half of it is left' do
    key!("value => 'a', expires_after => '1h'")
    expect([with_events('success'), stored['expires']]).to eq([key_resources('k'), '2026-01-01T13:00:00Z'])
    at(1799) { key!("value => 'a', expires_after => '1h'") }
    expect(changed).to eq([])
    at(1801) { key!("value => 'a', expires_after => '1h'", noop: true) }
    expect([with_events('noop'), stored['expires']]).to eq([key_resources('k'), '2026-01-01T13:00:00Z'])
    at(1801) { key!("value => 'a', expires_after => '1h'", noop: false) }
    expect([changed, stored['expires'], statuses.any?(&:corrective_change)])
      .to eq([key_resources('k'), '2026-01-01T13:30:01Z', false])
    expect(log).to include(a_string_matching(/renewed for 1h: it would have expired at 2026-01-01T13:00:00Z$/))
    at(1802) { key!("value => 'a', expires_after => 60") }
    expect([changed, stored['expires'], values]).to eq([key_resources('k'), '2026-01-01T12:31:02Z', %w[a]])
  end

  it 'are absent when they have expired, and stored anew' do
    key!("value => 'a', metadata => { 'n' => 1 }, expires_after => '1h'")
    at(7200) do
      apply("simpkv_key { 'k': ensure => present, metadata => { 'n' => 2 } }")
      expect(failed).to eq(key_resources('k'))
      expect(log).to include(a_string_matching(/give 'value': there is no such key/))
      key!("value => 'a', expires_after => '1h'")
      expect([changed, stored['expires'], stored['metadata']]).to eq([key_resources('k'), '2026-01-01T15:00:00Z', {}])
      key!("value => 'a', expires_after => '1h'")
      expect(changed).to eq([])
    end
  end

  it 'are stored anew without a time, if the resource has none' do
    key!("value => 'a', expires_after => '1h'")
    at(7200) do
      key!("value => 'a'")
      expect([changed, stored.keys]).to eq([key_resources('k'), %w[value metadata]])
      key!("value => 'a'")
      expect(changed).to eq([])
    end
  end

  it 'are removed with their history, also when they have expired' do
    key!("value => 'a', expires_after => '1h'")
    at(7200) { key!('ensure => absent') }
    expect([changed, keys]).to eq([key_resources('k'), []])
    at(7200) { key!('ensure => absent') }
    expect(changed).to eq([])
  end

  it 'keep earlier values, of an equal value none, and only one of value and metadata if the resource has one' do
    ["'a'", "'b'", "'b'", "Sensitive('c')", "Sensitive('d')"]
      .each { |value| key!("value => #{value}, history => 2") }
    sensitive = %w[d c].map { |value| { '__ptype' => 'Sensitive', '__pvalue' => value } }
    expect(values).to eq([*sensitive, 'b'])
    key!("ensure => present, metadata => { 'n' => 1 }, history => 1, expires_after => '1h'")
    expect([values, stored['metadata'], stored['expires']])
      .to eq([[sensitive.first, sensitive.first], { 'n' => 1 }, '2026-01-01T13:00:00Z'])
    expect([log, @report.to_data_hash].to_s).not_to match(/pvalue/)
  end

  it 'expire although another resource gave the value' do
    fill('k' => { value: 'a' })
    key!("ensure => present, expires_after => '1h'")
    expect([changed, stored.values_at('value', 'expires')]).to eq([key_resources('k'), %w[a 2026-01-01T13:00:00Z]])
    expect(log.grep(/now expires after 1h/).length).to eq(1)
    key!("ensure => present, expires_after => '1h'")
    expect(changed).to eq([])
  end
end

RSpec.describe 'Keys as resources that expire' do
  describe 'in files' do
    include_context 'with keys as resources'
    include_examples 'keys as resources that expire'
    include PuppetResource

    it 'are refused with a time or a number that is none' do
      { 'expires_after' => ["'0d'", "'tomorrow'", '-1'], 'history' => ['-1', '101', "'many'"] }
        .each do |name, values|
          values.each do |value|
            expect { apply("simpkv_key { 'k': value => 1, #{name} => #{value} }") }
              .to raise_error(Puppet::Error, /(time|number) must be/)
          end
        end
      apply("simpkv_key { 'k': value => 1, expires_after => '9000y' }")
      expect([failed, log]).to match([key_resources('k'), include(a_string_matching(/'expires_after' is too long/))])
    end

    it 'are not listed by puppet resource when they have expired, and are purged' do
      key!("value => 'a', expires_after => '1h'")
      expect(puppet_resource('simpkv_key')).to match(/\A(?!.*expires_after).*'k'/m)
      at(7200) do
        expect([puppet_resource('simpkv_key'), puppet_resource('simpkv_key', 'k')])
          .to match(["\n", /ensure +=> 'absent'/])
        apply!("simpkv_folder { '/': purge => true }")
      end
      expect([removed, keys]).to eq([key_resources('k'), []])
    end

    it 'are overwritten if their time is malformed' do
      fill('k' => '{"value":"a","metadata":{},"expires":"tomorrow"}')
      key!("value => 'a', expires_after => '1h'")
      expect([changed, stored['expires']]).to eq([key_resources('k'), '2026-01-01T13:00:00Z'])
    end

    context 'with the option history of the backend' do
      let(:backend) { super().merge('history' => 1) }

      it 'keep as many values as the backend says, unless the resource says otherwise' do
        %w[a b c].each { |value| key!("value => '#{value}'") }
        expect(values).to eq(%w[c b])
        key!("value => 'd', history => 0")
        expect(values).to eq(%w[d])
      end
    end

    context 'with encrypted documents' do
      include KeyFile

      let(:backend) { super().merge('encryption_keys' => write_keys('a')) }

      it 'hide their values and their times' do
        run = ->(value) { key!("value => Sensitive('#{value}'), history => 1, expires_after => '1h'") }
        %w[pl4nted-1 pl4nted-2].each(&run)
        raw = store.get("#{KeysAsResources::PRODUCTION}/k")
        expect(raw).to match(/\A(?!.*(pl4nted|expires|history)).*"encoding":"jwe"/)
        at(1800) { run.call('pl4nted-2') }
        expect(changed).to eq([])
        at(7200) { run.call('pl4nted-2') }
        expect(changed).to eq(key_resources('k'))
      end
    end
  end

  describe 'in a directory' do
    include_context 'with keys in a directory', Slapd
    include_examples 'keys as resources that expire'
  end
end
