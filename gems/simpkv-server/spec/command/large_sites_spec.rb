# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../../../../spec/support/page'
require_relative '../../../../spec/support/scratch'

# Runs the command of docs/large-sites.md that asks several estates.
RSpec.describe 'docs/large-sites.md' do
  let(:folder) { Scratch.make('large-sites') }
  let(:script) do
    Page.new('large-sites.md').blocks_of('sh').grep(/simpkv -c/).first
        .gsub('/etc/simpkv/sites', File.join(folder, 'sites'))
  end

  before do
    FileUtils.mkdir(File.join(folder, 'sites'))
    %w[web1 web2].each { |name| make_estate(name) }
  end

  after { FileUtils.remove_entry(folder) }

  # @param name [String] of the site, and of its node
  def make_estate(name)
    root = File.join(folder, name)
    FileUtils.mkdir_p(File.join(root, 'globals'))
    site = { 'backends' => { 'default' => { 'type' => 'file', 'id' => name, 'root_path' => root } },
             'estate' => {}, 'server' => { 'index' => File.join(folder, "index-#{name}") } }
    estate = Simpkv::Estate.new(site)
    estate.make
    estate.facts.save(name, { 'kernel' => 'Linux' })
    File.write(File.join(folder, 'sites', "#{name}.yaml"), site.to_yaml)
  end

  it 'asks all estates' do
    expect(JSON.parse(Page.shell(script))).to eq([{ 'certname' => 'web1' }, { 'certname' => 'web2' }])
  end

  it 'prints no part of an answer if an estate is missing' do
    FileUtils.remove_entry(File.join(folder, 'web2'))

    expect { Page.shell(script) }.to raise_error(/to read keys from/) { |error|
      expect(error.message).not_to include('"certname":')
    }
  end
end
