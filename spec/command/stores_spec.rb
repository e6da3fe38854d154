# frozen_string_literal: true

require_relative 'command_helper'
require_relative '../support/eventually'
require 'delegate'
require 'simpkv/cli'
Dir[File.join(__dir__, 'examples', '*.rb')].sort.each { |file| require file }

RSpec.describe 'simpkv, on keys' do
  # Stores a document as it is.
  def plant(key, document = Simpkv::Codec.encode('x'), environment: 'production')
    store.put("environments/#{environment}/#{key}", document)
  end

  commands = ['put and get', 'several keys', 'exec', 'ls, tree, exists, find and explain', 'rm', 'put, cas and mv',
              'expiry and versions', 'a poll']

  describe 'in files:' do
    include_context 'with keys in files'
    [*commands, 'an editor', 'commands that print no values'].each { |name| describe(name) { include_examples name } }
  end

  # Each server and each layout once.
  { Slapd => 'plain', Ds389 => 'hex' }.each do |server, layout|
    describe "in #{server.name}, #{layout}:", ds389: server == Ds389 do
      include_context 'with keys in a directory', server, layout
      [*commands, 'edit'].each { |name| describe(name) { include_examples name } }
    end
  end
end
