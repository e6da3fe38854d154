# frozen_string_literal: true

require 'simpkv'
require 'simpkv/backend'
require 'simpkv/backend/ldap_search'
require_relative '../support/trickling_server'

RSpec.describe Simpkv::LdapSearch do
  # ldapsearch waits for each part of an answer anew, so that doctor never ended.
  it 'ends a command whose server sends an answer byte by byte' do
    stub_const("#{described_class}::SECONDS", 2)
    TricklingServer.run("\x30\x84\x7f\xff\xff\xff".b) do |server|
      command = "ldapsearch -x -H ldap://127.0.0.1:#{server.port} -o nettimeout=10 -b '' -s base"
      expect { described_class.perform(command) }
        .to raise_error(Simpkv::UnavailableError, 'ldapsearch failed: no whole answer within 2 s')
    end
  end
end
