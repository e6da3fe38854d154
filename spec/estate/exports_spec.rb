# frozen_string_literal: true

require_relative 'exports_helper'

RSpec.describe 'Exported resources in the store of simpkv' do
  include EstateSite

  it 'are collected by another node' do
    run_node('web1', "@@user { 'felix': comment => 'Felix', uid => 1001, tag => 'staff' }")
    catalog = run_node('proxy', 'User <<| tag == staff |>>')

    expect(managed(catalog, 'User').map { |user| [user.title, user[:comment], user[:uid]] })
      .to eq [['felix', 'Felix', 1001]]
  end

  # Each as a literal, and how the collecting node sees it.
  {
    'a string' => "'ä \\' \"'", 'an empty string' => "''", 'an integer' => '42',
    'a large integer' => '9223372036854775807',
    'a float' => '1.5', 'a float without fraction' => '1.0', 'true' => 'true', 'false' => 'false', 'undef' => 'undef',
    'an array' => "[1, ['a', undef], true]", 'a hash' => "{ 'a' => { 'b' => [1.5, undef] } }",
    'a hash with other keys' => "{ 1 => 'a', 'b' => 2, true => undef }",
    'a hash with the name of rich data' => "{ '__ptype' => 'Deferred', 'name' => 'fail' }",
    'default' => 'default', 'a Binary' => "Binary('AP8=')", 'a Timestamp' => "Timestamp('2026-11-23T01:02:03.456 UTC')",
    'a Timespan' => "Timespan({ 'hours' => 3 })", 'a Regexp' => '/a[b]+/', 'a SemVer' => "SemVer('1.2.3-rc1')",
    'a SemVerRange' => "SemVerRange('>=1.0.0 <2.0.0')", 'a URI' => "URI('https://example.com/a?b')",
    'a Sensitive' => "Sensitive('secret')", 'a Sensitive hash' => "Sensitive({ 'a' => Binary('AP8=') })",
    'a Sensitive in an array' => "[Sensitive('secret')]", 'a Deferred' => "Deferred('join', [['a', 'b'], '-'])",
    'a Deferred in a hash' => "{ 'a' => Deferred('join', [[File['/etc']], '-']) }",
    'a Sensitive Deferred' => "Sensitive(Deferred('join', [['a', 'b'], '-']))",
    'a reference' => "File['/etc/hosts']", 'references' => "[File['/a'], Site::Any['b'], Class['site']]",
    'references in a hash' => "{ 'a' => User['felix'] }"
  }.each do |name, literal|
    it "keep a parameter that is #{name}" do
      add_manifest('site', 'class site { }')
      add_manifest('site::any', 'define site::any(Any $value = 5) { }')
      local = compile('local', "@site::any { 'x': value => #{literal} } Site::Any <| |>").resource('Site::Any', 'x')
      run_node('web1', "@@site::any { 'x': value => #{literal} }")
      collected = run_node('web2', 'Site::Any <<| |>>').resource('Site::Any', 'x')

      expect([collected[:value].class, collected[:value]]).to eq [local[:value].class, local[:value]]
      expect(collected.sensitive_parameters).to eq local.sensitive_parameters
      expect(collected.to_data_hash['parameters']).to eq local.to_data_hash['parameters']
    end
  end
end
