# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/server/body_json'
require_relative 'server_helper'

RSpec.describe Simpkv::Server::BodyJson do
  repeated = { 'at the top' => '{"a":1,"a":1}', 'inside' => '{"a":[{"b":{"c":1,"d":2,"c":3}}]}',
               'in other spellings' => '{"a":1,"\u0061":2}' }

  repeated.each do |place, text|
    it "refuses an object with a member twice: #{place}" do
      expect { described_class.parse(text.dup) }
        .to raise_error(Simpkv::Server::Problem, 'the body has an object with a member that is given twice')
    end
  end

  it 'reads other bodies, also those with one member in several objects' do
    text = '{"a":{"a":[{"a":1},{"a":2}]},"b":"\u00fc"}'
    expect(described_class.parse(text.b)).to eq('a' => { 'a' => [{ 'a' => 1 }, { 'a' => 2 }] }, 'b' => 'ü')
    expect(described_class.parse(+'7')).to eq(7)
    expect { described_class.parse(+'{"a":') }
      .to raise_error(Simpkv::Server::Problem, 'the body cannot be read: not a JSON document')
  end

  # The newest json refuses repeated members itself; the one of Ruby 3.1 takes the last one.
  it 'refuses them with the json of this Ruby, too' do
    program = 'require "simpkv/native/json_reader"; ' \
              'p ARGV.map { |text| Simpkv::JsonReader.unique?(text, Simpkv::Native.parse(text)) }'
    env = ENV.keys.grep(/\A(BUNDLE|RUBYOPT|RUBYLIB|GEM)/).to_h { |name| [name, nil] }
    lib = File.expand_path('../../../../lib', __dir__)
    out = IO.popen([env, RbConfig.ruby, "-I#{lib}", '-rsimpkv', '-e', program, '{"a":{"a":1}}', '{"a": {"a": 1}}',
                    *repeated.values], &:read)
    expect(out).to eq("[true, true, false, false, false]\n")
  end

  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  it 'is how the service reads bodies' do
    make_estate
    local = service.client('tcp')
    twice = 'given twice'
    json = { 'Content-Type' => 'application/json' }
    command = '/pdb/cmd/v1?command=replace_facts&version=5&certname=web1'
    facts = '{"certname":"web1","environment":"production","producer_timestamp":"2026-11-23T15:00:00Z",' \
            '"values":{"a":1,"a":2}}'
    expect(local.post(command, facts, json)).to have_attributes(status: 400, body: include(twice))
    expect(local.post('/pdb/query/v4', '{"query":"nodes{}","query":"facts{}"}', json))
      .to have_attributes(status: 400, body: include(twice))
    expect(local.post('/v1/inspection_rules', '{"actions":[],"actions":[]}', json))
      .to have_attributes(status: 400, body: include(twice))
    expect(service.client.put('/v1/keys/globals/a', '{"value":{"a":1,"a":2}}', json))
      .to have_attributes(status: 400, body: include(twice))
  end
end
