# frozen_string_literal: true

require 'fileutils'
require 'simpkv/inspection'
require_relative '../../../../spec/support/scratch'

# An estate in files with a document of each subject, and what can happen to it. Readers of the estate are listed in
# spec/estate/readers_spec.rb and gems/simpkv-server/spec/server/readers_spec.rb: for each fault, each of them answers
# as before, or with an error.
module EstateDamage
  RULE = '11111111-1111-4111-8111-111111111111'
  OTHER_RULE = '22222222-2222-4222-8222-222222222222'
  OPTIONS = { 'catalogs' => true, 'compiler_counters' => true, 'unknown_nodes' => 'discover' }.freeze

  # A document of each subject, by its path below the estate's folder.
  DOCUMENTS = ['catalogs/web1', 'counters/compiler1', 'exported/user/web1', 'facts/web1', 'inspections/web1',
               'inventory/web1', 'node_cache/web1', 'nodes/web1', 'purged/gone1', 'reports/web1/1',
               "rules/#{RULE}", 'status/web1'].freeze

  # Those that another document names.
  NAMED = ['exported/user/web1', 'facts/web1'].freeze

  # The folders with a marker.
  FOLDERS = (Simpkv::Estate::MARKED + Simpkv::Estate::MARKED_LATER + ['exported/user']).freeze

  # One without a marker.
  FOLDER_OF_NODE = 'reports/web1'
  A_DOCUMENT = ->(file) { File.write(file, '{"value":{}}') }

  # What takes the place of a document.
  REPLACEMENTS = {
    'a folder' => ->(file) { FileUtils.mkdir(file) },
    'a folder with a document' => ->(file) { FileUtils.mkdir(file) && File.write(File.join(file, 'x'), '{"value":1}') },
    'a FIFO' => ->(file) { File.mkfifo(file) },
    'a link that leads nowhere' => ->(file) { File.symlink('absent', file) },
    'a link that leads out of the store' => ->(file) { File.symlink('/etc/hostname', file) },
    'a torn document' => ->(file) { File.write(file, '{"value":') },
    'an encrypted document' => ->(file) { File.write(file, '{"value":"e30..YWI.YWI.YWI","encoding":"jwe"}') },
    'a value of another form' => ->(file) { File.write(file, '{"value":7}') }
  }.freeze

  class << self
    # @return [Hash{String => Proc}] each fault by its name; it gets the folder of the estate
    def faults
      folders.merge(documents, markers)
    end

    # Fills a store.
    #
    # @param root [String] its folder
    # @return [void]
    def fill(root)
      filled = estate(root)
      filled.make
      %w[web1 web2].each { |name| fill_node(filled, name) }
      filled.nodes.declare('declared', 'classes' => ['ntp'])
      filled.purged.enter('gone1', Time.now.utc.iso8601)
      store = Simpkv::Inspection::Rules.of(filled)
      [RULE, OTHER_RULE].each { |uuid| store.create('uuid' => uuid, 'actions' => [{ 'op' => 'log', 'args' => ['x'] }]) }
      filled.counters.put('compiler1', 'time' => Time.now.utc.iso8601, 'version' => Simpkv::VERSION, 'pools' => [])
    end

    # @param root [String] the folder of a store
    # @return [Simpkv::Estate]
    def estate(root, options = {})
      Simpkv::Estate.new({ 'backends' => backends(root), 'estate' => OPTIONS.merge(options) }) do
        Simpkv::Store.open('file', 'root_path' => root)
      end
    end

    # @return [Hash] the section `backends` of a configuration
    def backends(root)
      { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => root } }
    end

    private

    def fill_node(estate, name)
      estate.facts.save(name, { 'os' => { 'name' => 'Debian' } })
      estate.exports.save(name, { 'user' => [{ 'title' => name }] }, 'production')
      estate.catalogs.put(name, 'name' => name, 'version' => 1, 'environment' => 'production', 'tags' => [],
                                'classes' => [], 'edges' => [],
                                'resources' => [{ 'type' => 'Notify', 'title' => name, 'exported' => false }])
      estate.inspections.replace_last(name, { 'rules' => [], 'record' => {} }, nil)
      estate.nodes.declare(name, 'classes' => ['ntp'])
      estate.nodes.cache(name, 'classes' => ['cached'])
      estate.reports.save(name, Simpkv::Estate::ReportSummary.of(report(name), {}, []))
      event = { 'resource' => 'File[/a]', 'property' => 'mode', 'status' => 'success', 'values' => { 'old' => '0600' } }
      estate.reports.save(name, Simpkv::Estate::WholeReport.new(report(name), {}, [event], []))
    end

    def report(name)
      { 'host' => name, 'time' => Time.now.utc.iso8601, 'status' => 'changed', 'environment' => 'production',
        'puppet_version' => '8.0.0', 'report_format' => 12, 'configuration_version' => 1, 'noop' => false,
        'transaction_uuid' => name }
    end

    def folders
      whole = { 'the estate is missing' => ->(estate) { FileUtils.rm_r(estate) } }
      FOLDERS.each_with_object(whole) do |name, faults|
        faults["#{name}/ is missing"] = ->(estate) { FileUtils.rm_r(File.join(estate, name)) }
        faults["#{name}/ is empty"] = ->(estate) { empty(File.join(estate, name)) }
        faults["#{name}/ has no marker"] = ->(estate) { FileUtils.rm(File.join(estate, name, '.estate')) }
        faults["#{name}/ is a document"] = replacing(name, A_DOCUMENT)
      end
    end

    def empty(folder)
      FileUtils.rm_r(Dir.children(folder).map { |child| File.join(folder, child) })
    end

    def documents
      missing = NAMED.to_h { |name| ["#{name} is missing", ->(estate) { FileUtils.rm(File.join(estate, name)) }] }
      replaced = DOCUMENTS.product(REPLACEMENTS.to_a).to_h do |name, (what, make)|
        ["#{name} is #{what}", replacing(name, make)]
      end
      missing.merge(replaced, "#{FOLDER_OF_NODE}/ is a document" => replacing(FOLDER_OF_NODE, A_DOCUMENT))
    end

    def markers
      FOLDERS.product(REPLACEMENTS.to_a.first(6)).to_h do |name, (what, make)|
        ["the marker of #{name}/ is #{what}", replacing("#{name}/.estate", make)]
      end
    end

    def replacing(name, make)
      lambda do |estate|
        file = File.join(estate, name)
        FileUtils.rm_r(file)
        make.call(file)
      end
    end
  end
end

# For each example a copy of a filled estate, which it may damage.
RSpec.shared_context 'with an estate to damage' do
  before(:context) do
    @template = Scratch.make('simpkv-estate')
    EstateDamage.fill(@template)
  end

  after(:context) { FileUtils.rm_rf(@template) }

  let(:root) { Scratch.make('simpkv-damage').tap { |folder| renew(folder) } }

  after { FileUtils.rm_rf(root) }

  # Makes a store as it was before it was damaged.
  def renew(folder = root)
    FileUtils.rm_rf(Dir.children(folder).map { |child| File.join(folder, child) })
    FileUtils.cp_r("#{@template}/.", folder, preserve: true)
  end

  # @param fault [#call] of {EstateDamage.faults}
  def damage(fault)
    fault.call(File.join(root, 'globals/estate'))
  end
end
