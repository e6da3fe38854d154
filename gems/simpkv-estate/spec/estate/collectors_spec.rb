# frozen_string_literal: true

require_relative 'exports_helper'
require_relative '../../../../spec/support/ldap_store'

# Collectors, each run twice: by Puppet itself over the virtual resources of one catalog, and over resources that
# another node has exported to the store. Most conditions mean the same in both.
module Collectors
  DEFINITIONS = <<~PUPPET
    $text = 'alpha'
    $none = undef
    $list = ['One', 'two', 3]
    $short = ['one', 'TWO']
    $map = { 'key' => 'VALUE', 'more' => [1, 2] }
    $tags = ['green', 'RED']
    $binary = Binary('AP8=')
    $version = SemVer('1.2.3')
    $range = SemVerRange('>=1.0.0')
    $time = Timestamp('2026-11-23T01:02:03 UTC')
    $span = Timespan({ 'hours' => 3 })
    $secret = Sensitive('secret')
    $regexp = /^a/
    $type = Integer[0, 5]
    define site::item($text = 'of the definition', $number = undef, $flag = undef, $list = undef, $map = undef,
                      $rich = undef, $reference = undef) { }
  PUPPET

  # `@` becomes `@@` for the node that exports.
  RESOURCES = <<~PUPPET
    File { owner => 'root', tag => 'defaulted' }
    define site::group() {
      @site::item { "${title} a": text => 'group' }
      @site::item { "${title} b": number => 7, tag => "tag_of_${title}" }
    }
    class site::base {
      tag 'tagged_by_function'
      @site::item { 'in base': text => 'base' }
      site::group { 'base': tag => 'metaparameter' }
    }
    class site::derived inherits site::base {
      @site::item { 'in derived': text => 'derived' }
    }
    include site::derived
    site::group { 'top': }
    @site::item { 'a': text => 'Alpha', number => 1, flag => true, list => ['One', 'two', 3], tag => 'red' }
    @site::item { 'b': text => 'ALPHA', number => 2.5, flag => false, list => [], tag => ['Red', 'blue'] }
    @site::item { 'With Capitals': text => '1', number => '1', list => [['one'], 'y'], tag => 'module::name' }
    @site::item { 'c': text => '', number => 0, list => 'one', map => { 'key' => 'value', 'more' => [1, 2] } }
    @site::item { 'd': text => undef, number => -1, list => [true, undef], map => { } }
    @site::item { 'e': text => ['alpha', 'beta'], number => [1, 2], list => [['One', 'two', 3]], noop => true }
    @site::item { 'f': text => "line\\nbreak", number => 10000000000, list => ['1.2.3', '2026'], loglevel => warning }
    @site::item { '/path/g': text => 'äöü', reference => File['/a'], require => File['/a'] }
    @site::item { '/path/h': reference => [File['/a'], Notify['b']], notify => [Notify['b']], alias => 'other' }
    @site::item { 'binary': rich => Binary('AP8='), list => [Binary('AP8=')] }
    @site::item { 'version': rich => SemVer('1.2.3'), list => [SemVer('1.2.3'), 'x'] }
    @site::item { 'range': rich => SemVerRange('>=1.0.0') }
    @site::item { 'time': rich => Timestamp('2026-11-23T01:02:03 UTC'), list => [Timespan({ 'hours' => 3 })] }
    @site::item { 'regexp': rich => /^a/, text => 'abc' }
    @site::item { 'sensitive': rich => Sensitive('secret'), text => Sensitive('Alpha') }
    @site::item { 'nested sensitive': rich => [Sensitive('secret')], map => { 'key' => Sensitive('x') } }
    @site::item { 'default': rich => default }
    @site::item { 'deferred': rich => Deferred('join', [['a', 'b'], '-']) }
    @site::item { 'class reference': reference => Class['site::base'] }
    @file { '/a': ensure => file, mode => '0644', content => 'alpha' }
    @file { '/b': ensure => directory, owner => 'felix', tag => 'red' }
    @file { 'third': path => '/c', ensure => absent, before => File['/b'] }
    @notify { 'b': message => 'Alpha', tag => ['a.b-c', 'x'] }
  PUPPET

  ITEMS = [
    '', "title == 'a'", "title == 'A'", "title == 'with capitals'", "title != 'a'", 'title == $text', 'title == top',
    "title == '/path/g'", 'title == undef', 'title != undef',
    'tag == red', 'tag == RED', "tag == 'Red'", 'tag == blue', 'tag != red', 'tag != undef', 'tag == $tags',
    'tag == nonesuch', "tag == 'site::item'", 'tag == site', 'tag == item', "tag == 'class'", 'tag == a',
    "tag == 'module::name'", 'tag == module', 'tag == name', "tag == 'site::base'", "tag == 'site::derived'",
    'tag == base', 'tag == tagged_by_function', 'tag == metaparameter', "tag == 'site::group'", 'tag == group',
    'tag == top', 'tag == tag_of_base', 'tag == tag_of_top', "tag == ''",
    "text == 'alpha'", "text == 'ALPHA'", 'text == alpha', 'text == "al${none}pha"', 'text == $text', "text != 'alpha'",
    "text == ''", 'text == undef', 'text == $none', 'text != undef', "text == 'of the definition'", "text == 'ÄÖÜ'",
    "text == 'äöü'", 'text == "line\\nbreak"', "text == 'alp'", 'text == 1', "text == '1'", 'text == true',
    'text == $secret', 'text == $regexp', 'text == $type',
    'number == 1', "number == '1'", 'number == 1.0', 'number != 1', 'number == 2.5', 'number == 2.50', 'number == 0',
    'number == 10000000000', 'number == 1e10', 'number == 0x01', 'number == undef', 'number != undef', 'number == 2',
    'flag == true', 'flag == false', 'flag != true', 'flag != false', "flag == 'true'", 'flag == undef',
    "list == 'one'", "list == 'TWO'", 'list == 3', "list == '3'", "list != 'one'", 'list == $list', 'list != $list',
    'list == $short', 'list == true', 'list == undef', 'list != undef', "list == '1.2.3'", 'list == $version',
    'list == $binary', 'list == $span', 'list == $regexp', 'list == $type', 'list == y',
    'map == $map', 'map != $map', 'map == undef', "map == 'key'",
    'rich == $binary', 'rich == $version', "rich == '1.2.3'", 'rich == $range', 'rich == $time', 'rich != $time',
    'rich == $regexp', 'rich == $secret', "rich == 'secret'", 'rich != $secret', 'rich == undef', "rich == 'default'",
    "reference == File['/a']", "reference != File['/a']", "reference == 'File[/a]'", "reference == Notify['b']",
    "reference == Class['site::base']", "reference == Class['site::derived']", "require == File['/a']",
    "notify == Notify['b']", "notify != Notify['b']", 'noop == true', 'noop != true', 'loglevel == warning',
    "alias == 'other'", "name == 'a'", 'name == undef', "nonesuch == 'x'", 'nonesuch == undef', "nonesuch != 'x'",
    "tag == red and text == 'alpha'", 'tag == red or tag == site', 'tag == red and tag == blue',
    "tag == red or title == 'c'", "(tag == red or title == 'c') and number != 1",
    "tag == red or title == 'c' and number != 1", "((title == 'a') or ((title == 'b') and (tag == blue)))",
    "title != 'a' and title != 'b' and tag != 'metaparameter'", "text == $facts['wanted']"
  ].freeze

  FILES = ['', "title == '/a'", "title == '/c'", "path == '/c'", 'path == undef', 'owner == root', 'owner != root',
           'owner == felix', 'tag == defaulted', 'tag == red', 'tag == file', "mode == '0644'", "mode == '644'",
           'mode == 0644', 'ensure == file', 'ensure == FILE', 'ensure != absent', "before == File['/b']",
           "before != File['/b']", "content == 'ALPHA'"].freeze

  NOTIFICATIONS = ['', "message == 'alpha'", "message != 'alpha'", "tag == 'a.b-c'", 'tag == x', 'name == undef'].freeze

  # Puppet refuses these.
  REFUSED = ['tag == 1', 'number == -1', 'number == [1]', 'title > 1', 'title =~ /a/', 'text == default',
             "!(title == 'a')", "title in ['a']", 'number == 1 + 1'].freeze

  # The titles that a collector of exported resources collects, where one of virtual resources collects others.
  AS_PUPPETDB = {
    "title == 'A'" => [], "title == 'with capitals'" => [],
    'tag != red' => { all_but: %w[a b] }, 'tag != undef' => { all_but: [] },
    "title != 'a' and title != 'b' and tag != 'metaparameter'" => { all_but: ['a', 'b', 'base a', 'base b'] },
    "tag == red and text == 'alpha'" => [],
    "text == 'alpha'" => [], 'text == alpha' => [], 'text == "al${none}pha"' => [], 'text == $text' => [],
    "text == 'ALPHA'" => %w[b], "text != 'alpha'" => { all_but: [] }, 'text == $regexp' => [],
    'number == 1' => %w[a], 'number == 0x01' => %w[a], 'number == 1.0' => [], 'number == 1e10' => [],
    'number == 2' => [],
    "list == 'one'" => %w[c], "list == 'TWO'" => [], 'list == 3' => [], 'list == true' => [], 'list == y' => [],
    "list == '1.2.3'" => [], 'list == $version' => [], 'list == $binary' => [], 'list == $span' => [],
    'list == $type' => [], 'list == $list' => %w[a],
    'list == undef' => { all_but: ['a', 'b', 'c', 'd', 'e', 'f', 'binary', 'version', 'time', 'With Capitals'] },
    'map == $map' => [], 'map != $map' => { all_but: [] }, 'rich == $secret' => %w[sensitive],
    "reference == File['/a']" => %w[/path/g], "reference == Notify['b']" => [], "notify == Notify['b']" => []
  }.transform_keys { |condition| ['Site::Item', condition] }.merge(
    ['File', "content == 'ALPHA'"] => [], ['Notify', "message == 'alpha'"] => [],
    ['Notify', "message != 'alpha'"] => %w[b]
  ).freeze

  # Does not depend on the store.
  WITHIN_ONE_CATALOG = {} # rubocop:disable Style/MutableConstant

  ALL = { 'Site::Item' => ITEMS + REFUSED, 'File' => FILES, 'Notify' => NOTIFICATIONS }.flat_map do |type, conditions|
    conditions.map { |condition| [type, condition] }
  end.freeze
end

RSpec.shared_examples 'Puppet and PuppetDB' do
  include EstateSite

  def exporting
    run_node('exporter', Collectors::DEFINITIONS + Collectors::RESOURCES.gsub(/^(\s*)@/, '\1@@'))
  end

  # The conditions leave out some of the resources that others refer to.
  before do
    allow_any_instance_of(Puppet::Parser::Compiler::CatalogValidator::RelationshipValidator).to receive(:validate)
  end

  # @return [Hash, String] the parameters of each collected resource; or Puppet's error
  def within_one_catalog(type, condition)
    Collectors::WITHIN_ONE_CATALOG[[type, condition]] ||=
      outcome('local', "#{Collectors::RESOURCES}#{type} <| #{condition} |>", type)
  end

  def through_the_store(type, condition)
    outcome('collector', "#{type} <<| #{condition} |>>", type)
  end

  def outcome(certname, manifest, type)
    catalog = compile(certname, Collectors::DEFINITIONS + manifest)
    managed(catalog, type).to_h { |resource| [resource.ref, [resource.to_hash, resource.sensitive_parameters]] }
  rescue Puppet::Error => e
    e.message.sub(/an? (Virtual|Exported) Query/, 'a query').sub(/ \((file|line):.*/m, '')
  end

  it 'collects the same resources with the same parameters, and refuses the same conditions' do
    exporting
    different = (Collectors::ALL - Collectors::AS_PUPPETDB.keys).reject do |type, condition|
      within_one_catalog(type, condition) == through_the_store(type, condition)
    end

    expect(different).to eq []
  end

  # gems/simpkv-server/spec/puppetdb/collectors_spec.rb asks a PuppetDB.
  it 'compares title, tags and parameters as PuppetDB does where Puppet itself compares otherwise' do
    exporting
    all = through_the_store('Site::Item', '').keys
    collected = Collectors::AS_PUPPETDB.keys.to_h { |key| [key, through_the_store(*key).keys] }
    expected = Collectors::AS_PUPPETDB.to_h do |(type, condition), titles|
      titles, others = titles.is_a?(Hash) ? [[], titles.fetch(:all_but)] : [titles, nil]
      refs = [titles, others].map { |list| list&.map { |title| "#{type}[#{title}]" } }
      [[type, condition], others ? all - refs.last : refs.first]
    end

    expect(collected).to eq expected
    expect(expected.keys.select { |key| within_one_catalog(*key).keys.sort == expected[key].sort }).to eq []
  end

  it 'matches no Regexp that a node exports' do
    item = "@@site::item { 'x': text => /^a/, list => [/^((a+)+)+$/, 'Other'] }"
    run_node('exporter', Collectors::DEFINITIONS + item)

    expect(through_the_store('Site::Item', "list == '#{'a' * 40}!' or text == 'a' or list == $short")).to eq({})
  end

  it 'collects some of the resources with most conditions, and refuses some conditions' do
    outcomes = Collectors::ALL.map { |type, condition| within_one_catalog(type, condition) }

    expect(outcomes.grep(Hash).reject(&:empty?).uniq.length).to be > 60
    expect(outcomes.grep(String).uniq.length).to be > 3
  end
end

RSpec.describe 'Collectors of exported resources' do
  context 'when the store is in files' do
    it_behaves_like 'Puppet and PuppetDB'
  end

  context 'when the store is in a directory', heavy: true do
    include_context 'with slapd'

    it_behaves_like 'Puppet and PuppetDB' do
      let(:backend) { directory.options('id' => id).merge('type' => 'ldap') }
    end
  end
end
