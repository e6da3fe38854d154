# frozen_string_literal: true

require_relative '../../../../spec/spec_helper'
require_relative '../../../../spec/support/scratch'
require 'simpkv/access/passwords'

RSpec.describe Simpkv::Access::Passwords do
  def read(content)
    Scratch.make('simpkv') do |folder|
      file = File.join(folder, 'password')
      File.binwrite(file, content)
      described_class.new.read("file:#{file}")
    end
  end

  it 'are those that the core reads from the same file' do
    contents = ["secret\n", "secret\r\n", 'secret', "two\nlines\n", "\u00e4 \n", "#{'s' * 4096}\n"]
    expect(contents.map { |content| read(content) })
      .to eq(['secret', 'secret', 'secret', "two\nlines", "\u00e4 ", 's' * 4096])
  end

  it 'are in a new file only if a key has them' do
    Scratch.make('simpkv') do |folder|
      file = File.join(folder, 'password').tap { |name| File.write(name, 'hunter2') }
      expect(described_class.new.with_file("file:#{file}", &:itself)).to eq(file)
    end
    store = instance_double(Simpkv::Store, get: Simpkv::Codec.encode('hunter2'))
    expect(described_class.new { store }.with_file('key:vault/globals/a') do |file|
      [File.read(file), File.stat(file).mode & 0o777, file]
    end).to match(['hunter2', 0o600, satisfy { |file| !File.exist?(file) }])
  end

  it 'are missing if their key has expired' do
    document = Simpkv::Versions.successor(Simpkv::Codec.encode('hunter2'), nil, expires_after: -61)
    passwords = described_class.new { instance_double(Simpkv::Store, get: document) }
    expect { passwords.read('key:vault/globals/a') }
      .to raise_error(Simpkv::InvalidError, 'the key vault/globals/a has expired')
  end

  it 'have a stamp that changes with their file, and does not tell their length' do
    Scratch.make('simpkv') do |folder|
      file = File.join(folder, 'password')
      stamps = %w[hunter2 hunter22].map do |password|
        File.write(file, password)
        described_class.new.stamp("file:#{file}")
      end
      expect(stamps.uniq).to match([/\A\h{64}\z/, /\A\h{64}\z/])
    end
  end

  it 'are refused with the reason if they are in a backend that is not configured' do
    passwords = described_class.new { |name| raise Simpkv::ConfigError, "there is no backend '#{name}'" }
    expect { passwords.read('key:nix/globals/a') }.to raise_error(Simpkv::InvalidError, "there is no backend 'nix'")
  end

  {
    'is empty' => ['', "\n", "\r\n"],
    'is longer than 4096 bytes' => ["#{'s' * 4097}\n", "\u00e4" * 4096],
    'is not text' => ["hunter2\0", "hunter2\xe4".b, "\xe4hunter2\n".b]
  }.each do |problem, contents|
    it "are refused if the file #{problem}, with the name of the file alone" do
      contents.each do |content|
        expect { read(content) }.to raise_error(Simpkv::InvalidError, %r{\A/\S+/password #{problem}\z})
      end
    end
  end
end
