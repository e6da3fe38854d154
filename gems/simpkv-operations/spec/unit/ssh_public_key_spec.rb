# frozen_string_literal: true

require 'simpkv/ssh/public_key'
require_relative '../../../../spec/support/ssh_keys'

RSpec.describe Simpkv::Ssh::PublicKey do
  def key(comment: '', options: [], seed: 1)
    described_class.from(SshKeys.value(SshKeys.text(SshKeys::ED25519, seed), comment, options))
  end

  describe '#name' do
    {
      '' => 'key', 'felix@laptop' => 'felix-laptop', 'Felix on his LAPTOP' => 'felix-on-his-laptop', '..' => 'key',
      '../../etc' => 'etc', 'Jérôme' => 'j-r-me', '漢' => 'key', '-a-' => 'a', "a\tb" => 'a-b', 'a' * 300 => 'a' * 60
    }.each do |comment, slug|
      it "is a key that consists of '#{slug}' and a digest for the comment #{comment[0, 20].inspect}" do
        expect(key(comment: comment).name).to match(/\A#{Regexp.escape(slug)}-\h{12}\z/)
        expect { Simpkv::Native.key_check("ssh/#{key(comment: comment).name}", false) }.not_to raise_error
      end
    end

    it 'is another one if one member differs' do
      keys = [key, key(seed: 2), key(comment: 'a'), key(comment: 'A'), key(options: ['no-pty']),
              key(options: %w[no-pty no-x11-forwarding]), key(options: ['no-pty,no-x11-forwarding'])]
      expect(keys.map(&:name).uniq.length).to eq(keys.length)
    end

    # Another name would store the keys of a file again.
    it 'is the same in each version' do
      value = SshKeys.value('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIjHOUxyt89ANOTNfwOZCeE4q1GMZwgtB0+EQNl3fzLo', 'a b')
      expect(described_class.from(value).name).to eq('a-b-3169af0860d3')
    end
  end

  it 'has the fingerprint that ssh-keygen prints' do
    value = SshKeys.value('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIjHOUxyt89ANOTNfwOZCeE4q1GMZwgtB0+EQNl3fzLo')
    expect(described_class.from(value).fingerprint).to eq('SHA256:8mPKKqz0p/xdqC6LotkRTSOKqBiotADt09SH3A7AJiI')
  end

  it 'is the same after it was a value' do
    whole = key(comment: 'a', options: ['no-pty'])
    expect(described_class.from(whole.to_value)).to eq(whole)
    expect(described_class.from(key.to_value.reject { |name, _| %w[options comment].include?(name) })).to eq(key)
  end

  it 'is made of no other value' do
    valid = key.to_value
    [nil, 'text', [], {}, valid.merge('key' => 1), valid.merge('key' => 'AAAA'), valid.merge('type' => 'ssh-rsa'),
     valid.merge('options' => 'no-pty'), valid.merge('options' => [1]), valid.merge('options' => nil),
     valid.merge('comment' => 1), valid.merge('more' => 1)].each do |value|
      expect(described_class.from(value)).to be_nil
    end
  end

  it 'knows the types that simpkv::authorized_keys accepts' do
    type = File.read(File.expand_path('../../../../types/authorized_key.pp', __dir__))
    expect(type[/Enum\[(.*?)\]/m, 1].scan(/'(.*?)'/).flatten).to match_array(described_class::MANAGED_TYPES)
  end
end
