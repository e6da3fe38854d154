# frozen_string_literal: true

require 'delegate'
require 'json'
require_relative '../../../../spec/command/command_helper'
require_relative '../../../../spec/support/standing_clock'

RSpec.shared_examples 'simpkv expire' do
  include StandingClock

  # Stores a document as it is.
  def plant(key, document)
    store.put("environments/production/#{key}", document)
  end

  # Keys that expire after an hour or a day, and one that does not.
  before do
    { 'hour' => '1h', 'f/hour' => '1h', 'f/day' => '1d' }
      .each { |key, time| simpkv!('put', key, 'pl4nted-value', '--history', '1', '--expires-after', time) }
    simpkv!('put', '-g', 'hour', 'x', '--expires-after', '1h')
    simpkv!('put', 'stays', 'x')
  end

  def keys
    simpkv!('find', '--all', '--expired').lines(chomp: true)
  end

  it 'deletes the keys that have expired, and prints their paths' do
    at(3659) { expect(simpkv!('expire')).to eq('') }
    at(3660) do
      outcome = simpkv('expire', '--dry-run')
      paths = %w[environments/production/f/hour environments/production/hour globals/hour]
      expect(outcome.to_a).to match(["#{paths.join("\n")}\n", /^simpkv: 3 keys to delete$/, 0])
      expect(keys.length).to eq(5)
      expect(simpkv!('expire', 'f')).to eq("environments/production/f/hour\n")
      expect(JSON.parse(simpkv!('expire', '-g', '-o', 'json'))).to eq('deleted' => %w[globals/hour])
      expect(simpkv('expire', '-e', 'production', '--jobs', '1').to_a)
        .to match(["environments/production/hour\n", /^simpkv: 1 key deleted$/, 0]).and(all(not_show_secrets))
      expect(JSON.parse(simpkv!('expire', '-o', 'json'))).to eq('deleted' => [])
    end
    expect(keys).to eq(%w[environments/production/f/day environments/production/stays])
  end

  it '--older-than leaves keys that have expired since' do
    at(86_400 + 3660) do
      expect(JSON.parse(simpkv!('expire', '--older-than', '1d', '-n', '-o', 'json'))['expired'].length).to eq(3)
      expect(JSON.parse(simpkv!('expire', '--older-than', '86401', '-n', '-o', 'json'))).to eq('expired' => [])
    end
    expect(simpkv('expire', '--older-than', 'pl4nted').to_a)
      .to match(['', /--older-than must be /, 64]).and(all(not_show_secrets))
  end

  it 'names keys with malformed documents and times, and deletes the others' do
    plant('broken', '{"value":"pl4nted","expires":"2026-01-01T')
    plant('never', '{"value":"pl4nted","expires":"tomorrow"}')
    at(3660) do
      outcome = simpkv('expire')
      expect(outcome.to_a)
        .to match([%r{\Aenv.*/f/hour\nenv.*/hour\nglobals/hour\n\z}, %r{/broken': .*\n.*/never': .*'expires'}, 65])
        .and(all(not_show_secrets))
    end
    expect(simpkv!('ls', 'f')).to eq("day\n")
  end

  it 'says how many keys it has deleted when the store fails, and continues when it runs again' do
    deletions = 0
    failing = Class.new(SimpleDelegator) do
      define_method(:delete) do |*arguments, **more|
        raise Simpkv::UnavailableError, 'gone' if (deletions += 1) > 1

        super(*arguments, **more)
      end
    end
    allow_any_instance_of(Simpkv::Cli::ChosenBackend).to receive(:store).and_return(failing.new(store))
    at(3660) do
      expect(simpkv('expire', '--jobs', '1').to_a)
        .to match(['', /^simpkv: deleted 1 key\. Run the same command again to continue$/, 69])
      deletions = -10
      expect(simpkv!('expire').lines.length).to eq(2)
    end
  end

  it 'exits with 66 for a missing folder or environment, and for a key' do
    expect(simpkv('expire', 'stays').to_a).to match(['', /stays': it is a key, and simpkv expire takes a folder/, 66])
    expect([simpkv('expire', 'nothing').code, simpkv('expire', '-e', 'nothing').code]).to eq([66, 66])
  end

  # The key has another document when it is deleted than when it was read.
  it 'leaves a key that another client renews meanwhile' do
    within = store
    fresh = '{"value":"x","metadata":{},"expires":"2026-02-01T12:00:00Z"}'
    between = Class.new(SimpleDelegator) do
      define_method(:delete) do |path, **more|
        within.put(path, fresh) if path == 'globals/hour'
        super(path, **more)
      end
    end
    allow_any_instance_of(Simpkv::Cli::ChosenBackend).to receive(:store).and_return(between.new(store))
    at(3660) { expect(simpkv!('expire')).to eq("environments/production/f/hour\nenvironments/production/hour\n") }
    expect(store.get('globals/hour', latest: true)).to eq(fresh)
  end
end

RSpec.describe 'simpkv expire' do
  context 'with files' do
    include_context 'with keys in files'
    include_examples 'simpkv expire'
  end

  # Each server and each layout once.
  { Slapd => 'plain', Ds389 => 'hex' }.each do |server, layout|
    context "with #{server.name}, #{layout}", ds389: server == Ds389 do
      include_context 'with keys in a directory', server, layout
      include_examples 'simpkv expire'
    end
  end
end
