# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/audit_file'
require_relative '../support/clock'
require_relative '../support/key_file'

RSpec.describe 'Audited backends' do
  include AuditFile
  include Clock
  include KeyFile

  let(:root) { File.join(key_folder, 'root') }
  let(:more) { { 'audit' => audit(reads: true) } }
  let(:file) { { 'type' => 'file', 'id' => 'site', 'root_path' => root } }
  let(:memory) { { 'type' => 'memory', 'id' => 'site' } }
  let(:encrypted) { file.merge('id' => 'secret', 'root_path' => "#{root}2", 'encryption_keys' => write_keys('a')) }
  let(:backends) { { 'default' => file, 'memory' => memory, 'encrypted' => encrypted } }
  let!(:world) { PuppetWorld.new(hiera: { 'backends' => backends.transform_values { |backend| backend.merge(more) } }) }

  after do
    world.close
    MemoryStore.clear
  end

  def call(function, *arguments)
    world.call("simpkv::#{function}", *arguments)
  end

  # Calls all functions, with a secret in each value, metadata and expected value, also in calls that fail.
  def call_all(backend)
    on = { 'backend' => backend }
    secret = { 'password' => 'pl4nted' }
    call('put', 'a', secret, secret, on)
    call('put_many', { 'b' => { 'value' => secret }, 'c' => { 'value' => secret, 'metadata' => secret } }, on)
    2.times { call('get_or_create', 'd', secret, secret, on) }
    call('compare_and_put', 'd', 'pl4nted', 'pl4nted new', {}, on)
    call('compare_and_put', 'd', secret, 'pl4nted new', {}, on)
    %w[a none].each { |key| call('exists', key, on) }
    call('get', 'a', on)
    call('get_many', %w[a none], on)
    %w[list tree].each { |function| call(function, '/', on) }
    %w[a a].each { |key| call('delete', key, on) }
    call('deletetree', 'none', on)
    expect { call('get', 'none', on) }.to raise_error(RuntimeError)
    expect { call('put', 'x', Float::NAN, secret, on) }.to raise_error(RuntimeError)
  end

  # A get that fails looks for similar names, except in a store of another module.
  { 'default' => 2, 'memory' => 1, 'encrypted' => 2 }.each do |backend, looked_up|
    it "have a line for each operation, and no value (backend #{backend})" do
      call_all(backend)
      expect(File.read(audit_file)).not_to match(/pl4nted|password|eyJ/)
      expect(lines.group_by { |line| line['operation'] }.transform_values(&:length))
        .to include('put' => be >= 3, 'put_many' => 2, 'delete' => 2, 'deletetree' => 1, 'list' => looked_up,
                    'tree' => 1)
      expect(lines.map { |line| line.values_at('backend', 'node').join(' ') }.uniq)
        .to eq(["#{backends[backend].values_at('type', 'id').join('/')} world.example.com"])
      # It looks for the name among the global keys, too.
      expect(lines.count { |line| line['environment'] != 'production' }).to eq(looked_up - 1)
      written = lines.select { |line| line['outcome'] == 'written' }
      expect(written.map { |line| line['key'] }.uniq).to eq(%w[a b c d])
    end

    # There was no line.
    it "have a line of each compare_and_put that is refused (backend #{backend})" do
      world.hiera = { 'backends' => backends.transform_values { |each| each.merge('audit' => audit) } }
      world.fresh_environment
      on = { 'backend' => backend, 'history' => 1 }
      call('put', 'a', 'pl4nted 1', {}, on)
      expectations = [['a', 'pl4nted 2'], ['a', nil], ['b', 'pl4nted 1']]
      expect(expectations.map { |key, expected| call('compare_and_put', key, expected, 'x', {}, on) })
        .to eq([false, false, false])
      expect(operations.drop(1))
        .to eq(['put production:a conflict', 'put production:a conflict', 'put production:b conflict'])
      expect(File.read(audit_file)).not_to match(/pl4nted|eyJ/)
    end

    it "have lines of histories and expiries, and no earlier value (backend #{backend})" do
      on = { 'backend' => backend, 'expires_after' => '90d', 'history' => 2 }
      call('put', 'a', 'pl4nted 1', {}, on)
      2.times { call('put_many', { 'a' => { 'value' => 'pl4nted 2' }, 'b' => { 'value' => 'pl4nted 3' } }, on) }
      clock_at('2999-01-01T00:00:00Z')
      expect(call('get_or_create', 'a', 'pl4nted 4', {}, on)['value']).to eq('pl4nted 4')
      expect(call('get', 'a', on.merge('version' => -2))['value']).to eq('pl4nted 1')
      expect(File.read(audit_file)).not_to match(/pl4nted|eyJ/)
      expect(operations.grep(/ written\z/))
        .to eq(%w[put:a put_many:a put_many:b put:a].map { |each| "#{each.sub(':', ' production:')} written" })
    end
  end

  it 'have lines of writes only, without reads' do
    world.hiera = { 'backends' => { 'default' => file.merge('audit' => audit) } }
    world.fresh_environment
    call('put', 'a', 1, {}, { 'global' => true })
    call('get', 'a', { 'global' => true })
    call('get_or_create', 'a', 2, {}, { 'global' => true })
    expect(operations).to eq(['put global:a written'])
  end

  it 'have the lines of lookups' do
    call('put', 'hiera/x', 1)
    level = world.adapter.hiera_level({ 'backends' => { 'default' => file.merge(more) } }, 'production')
    expect(level.find('x').first(2)).to eq([true, 1])
    expect(operations.last).to eq('list production:hiera found')
  end

  it 'refuse to change the audit within a catalog' do
    call('put', 'a', 'x')
    expect { call('put', 'a', 'y', {}, { 'backends' => { 'default' => { 'audit' => { 'reads' => false } } } }) }
      .to raise_error(ArgumentError, /different backend configs for type=file id=site: they differ in audit/)
    expect { call('put', 'a', 'y', {}, { 'backends' => { 'default' => { 'audit' => { 'too' => 'x' } } } }) }
      .to raise_error(ArgumentError, /Unknown option 'too' of 'audit' of simpkv backend 'default'.*did you mean 'to'/)
  end

  it 'warn once a catalog, and go on, if the log cannot be written' do
    Dir.mkdir(audit_file)
    world.fresh_environment
    2.times { |n| call('put', 'a', n) }
    expect(world.warnings)
      .to contain_exactly(%r{\Asimpkv file/site: cannot open .*: Is a directory: lines of the audit log are lost\z})
    expect(call('get', 'a')['value']).to eq(1)
  end

  context 'with required' do
    let(:more) { { 'audit' => audit(required: true) } }

    it 'fail, or softly, and do nothing, if the log cannot be written' do
      Dir.mkdir(audit_file)
      expect { call('put', 'a', 1) }
        .to raise_error(RuntimeError, /with key='a': simpkv file.site Error: cannot open .*, so nothing was done\z/)
      expect(call('put', 'a', 1, {}, { 'softfail' => true })).to be(false)
      expect(call('exists', 'a')).to be(false)
      expect(call('put_many', { 'a' => { 'value' => 1 } }, { 'softfail' => true })).to be_nil
    end

    it 'fail if only the line of what was done cannot be written, get_or_create included' do
      allow_any_instance_of(Simpkv::Audit::Log).to receive(:write).and_raise(Simpkv::UnavailableError, 'broken')
      calls = { 'put' => ['a', 1], 'get_or_create' => ['b', 1], 'compare_and_put' => ['c', nil, 1] }
      calls.each do |function, arguments|
        expect { call(function, *arguments) }
          .to raise_error(RuntimeError, /broken\. The operation itself is over, with the outcome 'written': only its/)
      end
      expect(call('list', '/')['keys'].keys).to eq(%w[a b c])
    end
  end
end
