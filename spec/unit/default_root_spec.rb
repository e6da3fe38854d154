# frozen_string_literal: true

require 'etc'
require 'tmpdir'
require 'fileutils'
require_relative '../support/processes'

# Functions and the command find the store of a backend without root_path by this rule.
RSpec.describe Simpkv::DefaultRoot do
  include Processes

  let(:dir) { Dir.mktmpdir('simpkv-default') }
  let(:preferred) { File.join(dir, 'var/simp/simpkv/file/x') }
  let(:vardirs) { %w[server agent].map { |name| File.join(dir, name) } }
  let(:server) { File.join(vardirs[0], 'simp/simpkv/file/x') }
  let(:agent) { File.join(vardirs[1], 'simp/simpkv/file/x') }
  let(:default) { described_class.new('x', vardirs) }

  before { allow(Simpkv::Config).to receive(:default_root_path).with('x').and_return(preferred) }

  after do
    FileUtils.chmod_R('u+rwx', dir, force: true)
    FileUtils.remove_entry(dir)
  end

  # @return [String] a place with a store without keys
  def empty(place)
    FileUtils.mkdir_p([File.join(place, 'globals'), File.join(place, 'environments/production/app')])
    place
  end

  # @return [String] a place with a key
  def filled(place)
    File.write(File.join(empty(place), 'environments/production/app/k'), '{"value":1}')
    place
  end

  def store_at(place)
    Simpkv::Store.open('file', 'root_path' => place)
  end

  it 'is nil if no place exists' do
    expect(default.existing).to be_nil
  end

  it 'is the place below /var/simp if it exists, else the one below a vardir that exists' do
    expect(described_class.new('x', vardirs).tap { empty(agent) }.existing).to eq(agent)
    expect(default.tap { empty(server) }.existing).to eq(server)
    expect(default.tap { empty(preferred) }.existing).to eq(preferred)
    expect(default.tap { filled(preferred) }.existing).to eq(preferred)
  end

  it 'is the only fallback that has keys' do
    empty(server)
    filled(agent)
    expect(default.existing).to eq(agent)
  end

  # An empty store hid the real one, so that generated passwords changed.
  %i[empty filled].each do |how|
    it "is an error that names both places if /var/simp is #{how} beside a fallback with keys" do
      filled(server)
      send(how, preferred)
      expect { default.existing }.to raise_error(Simpkv::ConfigError,
                                                 /'#{preferred}', '#{server}'\. Move away all but .* 'root_path'/)
    end
  end

  it 'is an error if two fallbacks have keys' do
    [server, agent].each { |place| filled(place) }
    expect { default.existing }.to raise_error(Simpkv::ConfigError, /'#{server}', '#{agent}'/)
  end

  it 'is one place under two names' do
    filled(server)
    FileUtils.mkdir_p(File.dirname(preferred))
    File.symlink(server, preferred)
    expect(default.existing).to eq(preferred)
  end

  it 'does not count temporary files and links to folders as keys' do
    empty(preferred)
    File.write(File.join(empty(server), 'globals/.skv~0123'), '')
    expect(default.existing).to eq(preferred)
  end

  it 'is a broken link or a file in its place, which cannot be opened' do
    FileUtils.mkdir_p(File.dirname(preferred))
    File.symlink('/nowhere/at/all', preferred)
    expect(default.existing).to eq(preferred)
  end

  it 'counts further places only if this user can read them', needs: :fork do
    [dir, filled(server)].each { |place| File.chmod(place == dir ? 0o755 : 0o700, place) }
    default = described_class.new('x', [vardirs[1]], [vardirs[0]])
    expect(default.existing).to eq(server)
    File.chmod(0o000, server) unless Process.euid.zero?
    as_nobody { default.existing.nil? }
  end

  it 'is an error if this user may not look for it', needs: :fork do
    filled(server)
    File.chmod(0o755, dir)
    File.chmod(Process.euid.zero? ? 0o700 : 0o000, vardirs[0])
    as_nobody do
      default.existing
      false
    rescue Errno::EACCES => e
      e.message.include?(server)
    end
  end

  it "is an error that names an unreadable store of root beside a fallback of puppetserver's user", needs: :fork do
    filled(server)
    empty(preferred)
    File.chmod(0o755, dir)
    FileUtils.chmod_R(0o755, server)
    File.chmod(Process.euid.zero? ? 0o700 : 0o000, preferred)
    as_nobody do
      default.existing
      false
    rescue Simpkv::ConfigError => e
      e.message.include?(preferred) && e.message.include?(server)
    end
  end

  describe 'at its creation' do
    it 'is made below /var/simp' do
      expect(default.make { |place| store_at(place) && place }).to eq([preferred, nil])
    end

    it 'is made below a vardir that exists, with a warning, if /var/simp cannot be made' do
      File.write(File.join(dir, 'var'), 'a file where a folder is needed')
      Dir.mkdir(vardirs[1])
      expect(default.make { |place| store_at(place) && place })
        .to match([agent, /\AUnable to create default root path '#{preferred}'.*Using '#{agent}' instead/])
    end

    it 'is an error that names both places if neither can be made' do
      [File.join(dir, 'var'), *vardirs].each { |place| File.write(place, 'a file where a folder is needed') }
      expect { default.make { |place| store_at(place) } }
        .to raise_error(Simpkv::Error, /'#{preferred}'.*; Unable to create default root path '#{server}'/)
    end
  end
end
