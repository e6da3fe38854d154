# frozen_string_literal: true

require_relative '../spec_helper'
require_relative '../../rakelib/changed'

RSpec.describe 'bin/test changed', :once do
  it 'runs the specs of what has changed' do
    expect(Changed.specs(['lib/simpkv/ssh/public_key.rb', 'spec/unit/dn_spec.rb', 'LICENSE']))
      .to eq(%w[spec/command/ssh_spec.rb spec/unit/dn_spec.rb spec/unit/ssh_authorized_keys_spec.rb
                spec/unit/ssh_public_key_spec.rb])
    expect(Changed.specs(%w[lib/simpkv/termini/facts_terminus.rb spec/estate/facts_spec.rb])).to eq(%w[spec/estate])
  end

  it 'runs the C tests of the folders that have changed' do
    expect(Changed.c_tests(%w[ext/core/src/name/dn.c lib/simpkv.rb])).to eq(%w[test_dn test_key])
  end

  it 'finds specs for each file of the library' do
    without = Dir['{lib,ext/simpkv,schema,bin}/**/*.{rb,c,h,conf,ldif}'].select { |file| Changed.specs([file]).empty? }
    expect(without).to eq([])
  end
end
