# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require_relative '../spec_helper'

RSpec.describe Simpkv::Isolation do
  def base_problem(base_dn, id = 'x', layout = 'plain')
    described_class.problem('ldap', 'base_dn' => base_dn, 'id' => id, 'layout' => layout)
  end

  describe '.problem, of type ldap' do
    ['ou=globals,ou=site,ou=instances,dc=simp', 'ou=a,ou=production,ou=environments,ou=site,ou=instances,dc=simp',
     'ou=environments,simpkvHexId=78,ou=instances,dc=simp', 'ou=globals;ou=site;ou=instances;dc=simp',
     'OU = Globals , ou=site,ou=INSTANCES', 'organizationalUnitName=globals,ou=a,2.5.4.11=instances',
     'ou=gl\\6fbals,ou=a\\,b,ou="instances"', 'ou=globals,ou="a,b",ou=\\instances',
     'ou=#0407676c6f62616c73,ou=a,ou=instances', "ou=\u{FF47}lobals,ou=a,ou=inst\u00ADances"].each do |base_dn|
      it "refuses #{base_dn}" do
        %w[plain hex].each { |layout| expect(base_problem(base_dn, 'x', layout)).to match(/is inside the tree of/) }
      end
    end

    ['ou=simpkv,o=puppet,dc=simp', 'ou=instances,dc=simp', 'ou=site,ou=instances,dc=simp', 'ou=globals,ou=instances',
     'ou=globals,ou=a,cn=instances', 'ou="globals,ou=a,ou=instances"', 'ou=globals\\,ou=a\\,ou=instances',
     'ou=globals+cn=a,ou=b,ou=instances', '', 'ou', '=', '#', 'ou=#', 'ou=\\ff', "ou=\xff"].each do |base_dn|
      it("accepts #{base_dn.inspect}") { expect(base_problem(base_dn)).to be_nil }
    end

    # The instance called instances has its global keys below ou=globals,ou=instances,ou=instances,dc=simp.
    it 'refuses an id that is a folder of an instance called instances' do
      expect(base_problem('ou=instances,dc=simp', 'globals')).to match(/is inside the tree of/)
      expect(base_problem('ou=instances,dc=simp', 'globals', 'hex')).to be_nil
    end
  end

  describe '.problem, of type file' do
    let(:root) { File.realpath(Dir.mktmpdir('simpkv-isolation')) }
    let(:folder) { File.join(root, 'globals', 'a') }
    let(:problem) { described_class.problem('file', 'root_path' => root) }

    before { FileUtils.mkdir_p(folder) }

    # After the end of the doubles, as it reads the folder.
    around do |example|
      example.run
      FileUtils.remove_entry(root)
    end

    # Calls the block before the folder is read.
    def before_reading
      allow(Dir).to receive(:children).and_wrap_original do |children, path|
        yield if path == folder
        children.call(path)
      end
    end

    it 'takes a folder that is deleted or becomes a file during the search for an empty one' do
      before_reading { FileUtils.rmdir(folder) }
      expect(problem).to be_nil
      FileUtils.mkdir_p(folder)
      before_reading { FileUtils.rmdir(folder) && File.write(folder, '') }
      expect(described_class.problem('file', 'root_path' => root)).to be_nil
    end

    [Errno::EACCES, Errno::EIO, Errno::ESTALE].each do |error|
      it "refuses a root folder that cannot be searched (#{error})" do
        before_reading { raise error, folder }
        expect(problem).to match(/\Athe root folder '#{root}' is no store yet, and cannot be searched.*#{folder}\z/)
      end
    end
  end

  describe '.clash' do
    # @return [String, nil]
    def clash(root, *others)
      first, *rest = [root, *others].map.with_index do |path, number|
        { 'type' => 'file', 'id' => "x#{number}", 'root_path' => "/nowhere#{path}" }
      end
      described_class.clash(first, rest)
    end

    it 'compares a root folder with that of each other backend' do
      inside = "the root folder '/nowhere/a/b' is inside that of another store, '/nowhere/a'"
      expect([clash('/a/b', '/x', '/a'), clash('/a', '/x', '/a/b')]).to all(start_with(inside))
      expect([clash('/a', '/ab', '/a'), clash('/a')]).to eq([nil, nil])
    end
  end

  it 'accepts any settings of other types' do
    expect(described_class.problem('acme', 'root_path' => 5, 'base_dn' => 5)).to be_nil
    expect(described_class.clash({ 'type' => 'acme', 'id' => 'x', 'root_path' => '/a' },
                                 [{ 'type' => 'file', 'id' => 'y', 'root_path' => '/a/b' }])).to be_nil
  end

  it 'checks absolute root folders only' do
    [5, 'relative', "/a\0b", nil].each do |root|
      expect(described_class.clash({ 'type' => 'file', 'id' => 'x', 'root_path' => '/a' },
                                   [{ 'type' => 'file', 'id' => 'y', 'root_path' => root }])).to be_nil
    end
  end
end

RSpec.describe Simpkv::Store do
  def refused(message, options)
    expect { described_class.open('ldap', { 'ldap_uri' => 'ldapi://%2Fnone' }.merge(options)) }
      .to raise_error(Simpkv::ConfigError, message)
  end

  it 'refuses an id with a slash, and a base DN inside the tree of an instance' do
    refused(/'id' of a store must be a name/, 'id' => 'site/environments/production')
    refused(/the base DN .* is inside the tree of/, 'id' => 'x', 'base_dn' => 'ou=globals,ou=a,ou=instances,dc=simp')
  end
end
