# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'
require_relative '../../../../spec/support/audit_file'
require 'simpkv/termini/deactivation'
require 'simpkv/termini/node_terminus'

RSpec.describe 'The estate in an audited backend' do
  include EstateSite
  include EstateTermini
  include AuditFile

  let(:site_options) { { 'catalogs' => true } }
  let(:backend) do
    { 'type' => 'file', 'id' => 'estate', 'root_path' => File.join(scratch, 'root'), 'audit' => audit(reads: true) }
  end

  # @return [Array<String>] of each line that was added the node, the operation and the key
  def added
    before = lines.length
    yield
    lines.drop(before).map { |line| line.values_at('node', 'operation', 'key').join(' ') }
  end

  it 'names the node that an operation is for, and no value' do
    written = added { run_node('web1', "@@file { '/x': content => Sensitive('pl4nted') }") }
    expect(written).to include('web1 put_many estate/exported/file/web1', 'web1 put estate/catalogs/web1')
    expect(written).to all(start_with('web1 '))
    collected = added { compile('web2', 'File <<| |>>') }
    expect(collected).to eq(['web2 list estate/exported/file', 'web2 list estate/inventory'])
    removed = added { Simpkv::Termini::Deactivation.perform(['web1']) }
    expect(removed).to include('web1 delete estate/exported/file/web1')
    expect(File.read(audit_file)).not_to include('pl4nted')
  end

  it 'has the status of a node as the last document of its run, for the index of queries' do
    written = added { run_node('web1', "@@file { '/x': }") }.grep(/ put/).map { |line| line[%r{estate/\w+}] }

    expect(written.last).to eq('estate/status')
    expect(written).to include('estate/exported', 'estate/catalogs', 'estate/inventory')
  end

  context 'with required, and a log that cannot be opened' do
    let(:site_options) { { 'soft' => soft } }
    let(:soft) { false }
    let(:backend) { super().merge('audit' => audit(required: true)) }

    before do
      FileUtils.rm_f(audit_file)
      Dir.mkdir(audit_file)
    end

    it 'fails a save' do
      expect { run_node('web1', "@@file { '/x': }") }
        .to raise_error(Puppet::Error, /\Asimpkv estate: could not save .*: cannot open .*, so nothing was done\z/)
    end

    context 'with soft' do
      let(:soft) { true }

      it 'warns' do
        run_node('web1', "@@file { '/x': }")
        expect(warnings).to include(/could not save the exported resources of 'web1': cannot open the audit log/)
      end
    end
  end

  it 'names this machine for operations that are for no node' do
    estate.store # It reads a marker.
    expect(added { Simpkv::Termini::NodeTerminus.all }).to eq(["#{Puppet[:certname]} list estate/nodes"])
  end

  it 'names the node of the catalog for queries' do
    File.symlink(File.expand_path('../../../..', __dir__), File.join(modules, 'simpkv'))
    queries = added { compile('web3', 'notice(simpkv::query_nodes({}))') }
    expect(queries).to all(start_with('web3 '))
    expect(queries).not_to be_empty
  end
end
