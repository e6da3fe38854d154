# frozen_string_literal: true

require_relative 'puppetserver_helper'
require_relative '../support/module_versions'

RSpec.describe 'Environments of one puppetserver' do
  include_context 'with puppetserver'

  let(:manifest) { "notify { simpkv::get('k')['value']: }" }

  def all_of(version)
    [ModuleVersions.value(version)]
  end

  it 'each run their own version of the module: function, base class, adapter and plugin, in alternation' do
    %w[older newer].each do |name|
      ModuleVersions.edit(environment(name, manifest, options: files, timeout: 'unlimited'), name)
    end
    3.times do
      expect(puppetserver.compile('older')).to eq(all_of('older'))
      expect(puppetserver.compile('newer')).to eq(all_of('newer'))
    end
  end

  it 'run an edited module from the next catalog on, when environment_timeout is 0' do
    place = environment('edited', manifest, options: files, timeout: '0')
    %w[1 2 3].each do |version|
      ModuleVersions.edit(place, version)
      expect(puppetserver.compile('edited')).to eq(all_of(version))
    end
  end

  # Sleeps, so that the other JRuby has to compile the next catalog.
  let(:which_jruby) { "notify { inline_template('<% sleep 0.5 %>JRuby <%= Simpkv.object_id %>'): }" }

  it 'run an edited module after the environment is dropped, when environment_timeout is unlimited' do
    place = environment('kept', "#{manifest}\n#{which_jruby}", options: files, timeout: 'unlimited')
    ModuleVersions.edit(place, '1')
    expect_everywhere('kept', all_of('1'))
    ModuleVersions.edit(place, '2')
    expect_everywhere('kept', all_of('1'))
    puppetserver.drop_environments
    expect_everywhere('kept', all_of('2'))
  end

  # Compiles catalogs, several at the same time, until each of the two JRubies has compiled one. The second one starts
  # after the first.
  def expect_everywhere(name, titles)
    jrubies = []
    eventually(within: 600) do
      answers = Array.new(4) { Thread.new { puppetserver.compile(name) } }.map(&:value).uniq
      expect(answers.map { |found| found.reject { |title| title.start_with?('JRuby') } }.uniq).to eq([titles])
      jrubies |= answers.map { |found| found.grep(/^JRuby/) }
      jrubies.size == 2
    end
  end

  # Reads and writes a key of the environment and a global one.
  def read_and_write(name)
    <<~MANIFEST
      $found = [{}, { 'global' => true }].map |$options| {
        $old = simpkv::exists('k', $options) ? { true => simpkv::get('k', $options)['value'], false => 'nothing' }
        simpkv::put('k', '#{name}', {}, $options)
        $old
      }
      notify { "${found}": }
    MANIFEST
  end

  it 'have keys of their own, and share the global ones' do
    found = %w[red blue red].map do |name|
      environment(name, read_and_write(name), options: files)
      puppetserver.compile(name)
    end
    expect(found).to eq([['[nothing, nothing]'], ['[nothing, red]'], ['[red, blue]']])
  end

  # The caches of Hiera and of simpkv must not live longer than a catalog.
  it 'look up the latest stored value as data of Hiera, when environment_timeout is unlimited, too' do
    environment('lookups', <<~MANIFEST, options: files, timeout: 'unlimited')
      $count = lookup('app::count', { 'default_value' => 0 })
      simpkv::put('hiera/app::count', $count + 1)
      notify { "count ${count}": }
    MANIFEST
    level = { 'name' => 'stored', 'lookup_key' => 'simpkv::lookup_key', 'options' => files }
    file = puppetserver.path('code', 'environments', 'lookups', 'hiera.yaml')
    configuration = JSON.parse(File.read(file))
    File.write(file, JSON.generate(configuration.merge('hierarchy' => [level, *configuration['hierarchy']])))
    expect((0..5).flat_map { puppetserver.compile('lookups') }).to eq((0..5).map { |n| "count #{n}" })
  end
end
