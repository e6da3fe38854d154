# frozen_string_literal: true

require_relative '../../../../spec/availability/availability_helper'
require_relative '../../../../spec/support/processes'
require_relative '../../../../spec/support/puppet_command'
require_relative '../support/spooling_compiler'
require 'simpkv/estate'

# The estate in a pair of which the writer is killed. The page said that catalogs go on that only read, but each run
# saves facts first, and failed.
Pairs.each do |name, kind, tags|
  RSpec.describe "The estate in a pair of #{name}", **tags do
    include_context 'with a pair', kind
    include Processes

    let(:home) { Dir.mktmpdir('simpkv-availability') }
    let(:collected) { File.join(home, 'collected') }
    let(:spool) { File.join(home, 'spool') }
    let(:collecting) { "file { '#{collected}': ensure => directory, recurse => true, purge => true } File <<| |>>" }

    before do
      configure('spool' => spool)
      Simpkv::Estate.new({ 'backends' => { 'default' => backend } }).make
      each_store.first.put('globals/app', document('stored'))
      run('web1', "@@file { '#{collected}/web1': content => 'from web1' }")
      pair.settle
    end

    after do
      relaunch if @killed
      ENV.delete('SIMPKV_CONFIG')
      FileUtils.remove_entry(home)
    end

    def kill_writer
      first.kill
      @killed = true
    end

    def relaunch
      pair.relaunch(first)
      @killed = false
      pair.settle
    end

    # Writes the configuration of the termini, and of the functions.
    def configure(estate)
      backends = { 'default' => backend }
      ENV['SIMPKV_CONFIG'] = write('simpkv.yaml', 'backends' => backends, 'estate' => estate)
      write('common.yaml', 'simpkv::options' => { 'backends' => backends })
      write('hiera.yaml', 'version' => 5, 'defaults' => { 'datadir' => home, 'data_hash' => 'yaml_data' },
                          'hierarchy' => [{ 'name' => 'site', 'path' => 'common.yaml' }])
      FileUtils.mkdir_p(File.join(home, 'modules'))
      link = File.join(home, 'modules', 'simpkv')
      File.symlink(File.expand_path('../../../..', __dir__), link) unless File.symlink?(link)
    end

    def write(name, data)
      File.join(home, name).tap { |file| File.write(file, data.to_yaml) }
    end

    # @return [Array(String, Integer)] the output and the exit code
    def apply(certname, manifest)
      output, status = PuppetCommand.run(
        'apply', '--color=false', '--storeconfigs', '--storeconfigs_backend', 'simpkv', '--reports', 'simpkv',
        '--certname', certname, '--modulepath', File.join(home, 'modules'),
        '--hiera_config', File.join(home, 'hiera.yaml'), *PuppetCommand.folders(home), '-e', manifest
      )
      [output, status.exitstatus]
    end

    # @return [String] the output of a run without an error
    def run(certname, manifest)
      output, code = apply(certname, manifest)
      expect(code).to eq(0), output
      output
    end

    # @return [SpoolingCompiler] with the spool of the termini
    def compiler
      @compiler ||= SpoolingCompiler.new(backend, spool)
    end

    # Delivers what waits.
    def deliver
      eventually { compiler.deliver }
      pair.settle
    end

    it 'compiles catalogs with a spool, which collect all, and fails them without' do
      kill_writer
      output = run('web2', "#{collecting} notify { \"read ${simpkv::get('app', { 'global' => true })['value']}\": }")
      expect(output).to match(/Warning: simpkv estate: could not save the facts of 'web2'.*waits in the spool/m)
        .and include('read stored')
      expect(File.read("#{collected}/web1")).to eq('from web1')
      expect(apply('web2', "simpkv::put('new', 1)").last).to eq(1)

      configure({})
      expect(apply('web2', collecting)).to match([include("could not save the facts of 'web2'"), 1])
      expect(File.read("#{collected}/web1")).to eq('from web1')
    end

    # Lets nodes run while the writer is down, on a compiler that is killed at half of them, and on another one that
    # reaches the writer before the first one has delivered.
    #
    # @param runs [Integer] while the writer is down
    # @param pause [Numeric] the seconds between two of them
    # @yield while the writer is down
    def expect_nothing_lost(runs, pause)
      compiler.run_and_kill(1..10)
      pair.settle
      kill_writer
      compiler.run_and_kill(11..(10 + (runs / 2)), pause)
      compiler.run((11 + (runs / 2))..(10 + runs), pause)
      yield
      relaunch
      other = SpoolingCompiler.new(backend, "#{spool}2")
      other.run([runs + 11])
      deliver
      expect_stored(compiler, other)
    end

    def expect_stored(*compilers)
      expect(compilers.product(each_store).flat_map { |each, store| each.missing(store) }).to eq([])
    end

    it 'stores what runs have reported when the writer is back, and nothing older, also if a compiler was killed' do
      expect_nothing_lost(30, 0) { run('web2', "@@file { '#{collected}/web2': content => 'from web2' }") }
      expect(run('web3', collecting)).not_to include('waits in the spool')
      expect(Dir.children(collected)).to contain_exactly('web1', 'web2')
    end

    # The stage `long` ended before both pairs had done it.
    it 'loses nothing of 200 runs in the ten minutes in which the writer is down', :long do
      expect_nothing_lost(200, 3) { nil }
    end
  end
end
