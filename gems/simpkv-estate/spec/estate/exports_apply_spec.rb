# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'

# JRuby takes too long to start for each run; the specs of puppetserver cover it.
RSpec.describe 'Exported resources with puppet apply', needs: :mri, thorough: true do
  include EstateSite
  include EstateTermini

  # Puppet cannot replace its state files in memory.
  let(:home) { Dir.mktmpdir('simpkv-apply') }

  after { FileUtils.remove_entry(home) }

  # @return [Array(String, Integer)] the output and the exit code of a run of a node
  def apply(certname, manifest, *more)
    output, status = PuppetCommand.run(
      'apply', '--color=false', '--storeconfigs', '--storeconfigs_backend', 'simpkv', '--certname', certname,
      '--modulepath', modules, *PuppetCommand.folders(home), *more, '-e', manifest
    )
    [output, status.exitstatus]
  end

  def target(name)
    File.join(home, name)
  end

  # The folder of a collector that purges.
  let(:folder) { target('collected') }
  let(:collecting) { "file { '#{folder}': ensure => directory, recurse => true, purge => true } File <<| |>>" }

  it 'are exported by one node, collected by another, and vanish' do
    exporting = <<~PUPPET
      @@file { '#{target('plain')}': content => 'from web1', tag => 'x' }
      @@file { '#{target('secret')}': content => Sensitive('pl4nted'), tag => 'x' }
      @@file { '#{target('deferred')}': content => Deferred('join', [['a', 'b'], '-']), tag => 'x' }
    PUPPET
    expect(apply('web1', exporting).last).to eq 0
    expect(Dir.children(home)).not_to include('plain')

    output, code = apply('web2', 'File <<| tag == x |>> { mode => "0600" }', '--debug')
    expect(code).to eq(0), output
    expect(%w[plain secret deferred].map { |name| File.read(target(name)) }).to eq ['from web1', 'pl4nted', 'a-b']
    expect(output).to include('Collected 3 File resources').and include('Applied catalog')
    expect(output).not_to include('pl4nted')

    apply('web1', '')
    output, code = apply('web2', 'File <<| |>>', '--debug')
    expect([code, output]).to match [0, include('Collected 0 File resources')]
  end

  it 'fail the run for one reason, if the backend fails' do
    globals = File.join(scratch, 'root/globals')
    FileUtils.rm_r(globals)
    File.write(globals, '')
    output, code = apply('web1', "@@file { '#{target('plain')}': }")

    expect(code).to eq(1), output
    expect(output).to match(/^Error: simpkv estate: could not /)
    expect(output.scan(/simpkv estate: could not .*/).uniq.length).to eq(1), output
  end

  # The run used to make a new store, in which the collector found nothing.
  it 'fail the run if the store has vanished, so that a collector that purges deletes nothing' do
    apply('web1', "@@file { '#{folder}/web1': content => 'from web1' }")
    expect(apply('web2', collecting).last).to eq(0)

    File.rename(backend['root_path'], "#{backend['root_path']}.away")
    output, code = apply('web2', collecting)
    expect([code, output]).to match([1, include("there is no store in the folder '#{backend['root_path']}'")])
    expect(File.read("#{folder}/web1")).to eq('from web1')
    expect(File.exist?(backend['root_path'])).to be(false)
  end
  # The collector left the document out with a warning, and the purge removed what it had exported.
  it 'fail the run if a document is torn, so that a collector that purges deletes nothing' do
    exporting = ->(name) { apply(name, "@@file { '#{folder}/#{name}': content => 'from #{name}' }") }
    %w[web1 web3].each(&exporting)
    expect(apply('web2', collecting).last).to eq(0)

    torn = File.join(backend['root_path'], 'globals/estate/exported/file/web1')
    File.truncate(torn, 30)
    output, code = apply('web2', collecting)
    expect([code, output]).to match([1, include("'globals/estate/exported/file/web1' cannot be read")])
    expect(Dir.children(folder)).to contain_exactly('web1', 'web3')

    expect(exporting.call('web1').last).to eq(0)
    File.delete("#{folder}/web1")
    output, code = apply('web2', collecting)
    expect(code).to eq(0), output
    expect(%w[web1 web3].map { |name| File.read("#{folder}/#{name}") }).to eq(['from web1', 'from web3'])
  end
end
