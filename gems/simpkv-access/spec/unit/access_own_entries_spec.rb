# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/access/ldap_rules/own_entries'

RSpec.describe Simpkv::Access::OwnEntries do
  let(:types) do
    ["( 1.1 NAME 'objectClass' )", "( 1.2 NAME ( 'ou' 'organizationalUnitName' ) SUP name )",
     "( 1.3 NAME 'seeAlso' DESC 'USAGE directoryOperation' )", "( 1.4 NAME ( 'street' 'streetAddress' ) )",
     "( 1.5 NAME 'aci' USAGE directoryOperation X-ORIGIN 'x' )",
     "( 1.6 NAME ( 'ref' 'r' ) USAGE distributedOperation )",
     "( 1.7 NAME 'entryUUID' NO-USER-MODIFICATION USAGE directoryOperation )", "( 1.8 NAME 'mail' )",
     "( 1.9 NAME 'limit' DESC 'NO-USER-MODIFICATION' USAGE dSAOperation )",
     "( 1.10 NAME 'USER' USAGE userApplications )"]
  end
  let(:classes) do
    ["( 2.1 NAME 'top' ABSTRACT MUST objectClass )",
     "( 2.2 NAME ( 'organizationalUnit' 'x' ) SUP top MUST ou MAY ( seeAlso $ streetAddress $unknown ) )",
     "( 2.3 NAME 'simpkvEntry' SUP top STRUCTURAL MUST ( simpkvKey $ simpkvJsonValue ) )",
     "( 2.4 NAME 'person' DESC 'MAY organizationalUnit' SUP top MAY mail )"]
  end

  it 'finds the attributes that the classes permit, and the operational ones that a client may write' do
    expect(described_class.foreign(types, classes, 'plain')).to eq(%w[aci limit ref seeAlso street unknown])
  end

  it 'finds the attributes that the classes do not permit, but those of the configuration of slapd' do
    more = ["( 1.11 NAME 'name' )", "( 1.12 NAME 'olcAccess' )", "( 1.13 NAME 'kind' SUP name )"]
    expect(described_class.beyond(types + more, classes, 'plain')).to eq(%w[kind mail USER])
  end

  it 'fails if the server does not show its schema' do
    directory = instance_double(Simpkv::Directory, read_entry: {})
    store = instance_double(Simpkv::Store, directory: directory)
    expect { described_class.foreign_attributes(store, 'plain') }
      .to raise_error(Simpkv::DeniedError, /does not show its schema in 'cn=schema'/)
  end
end
