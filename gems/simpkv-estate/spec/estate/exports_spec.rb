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

  describe 'with overrides' do
    before do
      run_node('web1', "@@file { '/a': ensure => file, mode => '0600', tag => 'x' } @@file { '/b': mode => '0600' }")
    end

    it 'get the parameters of the collector' do
      catalog = run_node('web2', "File <<| tag == x |>> { mode => '0644', owner => 'felix' }")

      expect(managed(catalog, 'File').map(&:to_hash))
        .to match [include(path: '/a', ensure: 'file', mode: '0644', owner: 'felix')]
    end

    it 'get more values of a parameter with +>' do
      run_node('web1', "@@file { '/a': require => User['a'] }")
      catalog = run_node('web2', "user { ['a', 'b']: } File <<| |>> { require +> User['b'] }")

      expect(catalog.resource('File', '/a')[:require].map(&:ref)).to eq %w[User[a] User[b]]
    end

    it 'are not overridden in the store' do
      run_node('web2', "File <<| tag == x |>> { mode => '0644' }")

      expect(managed(run_node('web3', 'File <<| tag == x |>>'), 'File').map { |file| file[:mode] }).to eq %w[0600]
    end

    it 'may fill a gap of the exported resource with Sensitive' do
      catalog = run_node('web2', "File <<| title == '/a' |>> { content => Sensitive('secret') }")

      expect(catalog.resource('File', '/a').sensitive_parameters).to eq [:content]
    end
  end

  it 'get the defaults of the class that collects them, for parameters that they do not have' do
    run_node('web1', "@@file { '/a': mode => '0600' }")
    add_manifest('proxy', "class proxy { File { mode => '0644', owner => 'felix' }  File <<| |>> }")

    expect(run_node('proxy', 'include proxy').resource('File', '/a').to_hash).to include(mode: '0600', owner: 'felix')
  end

  describe 'of defined types and classes' do
    before do
      add_manifest('nginx::vhost', <<~PUPPET)
        define nginx::vhost(String $target, Integer $port = 80, Optional[Sensitive[String]] $key = undef) {
          file { "/etc/${title}": content => "${target}:${port}", tag => 'inner' }
          if $key { file { "/etc/${title}.key": content => $key } }
        }
      PUPPET
      add_manifest('app', <<~PUPPET)
        class app(String $name_of_vhost = 'app') {
          tag 'from_class'
          @@nginx::vhost { $name_of_vhost: target => 'web1', tag => 'own', key => Sensitive('secret') }
          app::part { 'part': }
        }
      PUPPET
      add_manifest('app::part', "define app::part() { @@nginx::vhost { $title: target => 'part' } }")
    end

    it 'are evaluated where they are collected' do
      run_node('web1', 'include app')
      catalog = run_node('proxy', 'Nginx::Vhost <<| |>>')

      expect(titles(catalog, 'Nginx::Vhost')).to eq %w[app part]
      expect(managed(catalog, 'File').map { |file| [file.title, file[:content]] })
        .to eq [['/etc/app', 'web1:80'], ['/etc/app.key', 'secret'], ['/etc/part', 'part:80']]
      expect(catalog.resource('File', '/etc/app.key').sensitive_parameters).to eq [:content]
    end

    it 'are not evaluated where they are exported' do
      expect(managed(run_node('web1', 'include app'), 'File')).to eq []
    end

    it 'have the tags of the classes and defined types around them' do
      run_node('web1', 'include app')

      %w[from_class app own class].each do |tag|
        expect(titles(run_node('proxy', "Nginx::Vhost <<| tag == '#{tag}' |>>"), 'Nginx::Vhost')).to include('app'), tag
      end
      expect(titles(run_node('proxy', "Nginx::Vhost <<| tag == 'app::part' |>>"), 'Nginx::Vhost')).to eq %w[part]
    end

    # Collectors of the collecting node used to override foreign resources by the tags of their exporter.
    it 'have the tags of their parameter and of the class that collects them, and no others of their exporter' do
      run_node('web1', 'include app')
      add_manifest('proxy', 'class proxy { Nginx::Vhost <<| tag == own |>> }')
      catalog = run_node('proxy', <<~PUPPET)
        include proxy
        File <| tag == own |> { mode => '0640' }
        File <| tag == from_class |> { owner => 'root' }
      PUPPET

      expect(catalog.resource('Nginx::Vhost', 'app').tags).to include('own', 'proxy', 'vhost')
      expect(catalog.resource('Nginx::Vhost', 'app').tags).not_to include('from_class')
      expect(catalog.resource('File', '/etc/app').to_hash).to include(mode: '0640')
      expect(catalog.resource('File', '/etc/app').to_hash).not_to include(:owner)
      expect(catalog.container_of(catalog.resource('Nginx::Vhost', 'app')).ref).to eq 'Class[Proxy]'
    end

    it 'fail with Puppet\'s own message if a parameter does not fit the definition of the collecting node' do
      run_node('web1', 'include app')
      add_manifest('nginx::vhost', 'define nginx::vhost(Integer $target) { }')

      expect { run_node('proxy', 'Nginx::Vhost <<| tag == own |>>') }.to raise_error(Puppet::Error) do |error|
        expect(error.message).to match(/target|key/)
        expect(error.full_message(highlight: false)).not_to include('secret')
      end
    end
  end

  describe 'with relationships' do
    it 'are related to resources of the collecting node' do
      run_node('web1', "@@file { '/a': require => User['felix'], notify => [Service['nginx'], Class['proxy']] }")
      add_manifest('proxy', "class proxy { service { 'nginx': } }")
      catalog = run_node('proxy', "include proxy  user { 'felix': }  File <<| |>>")

      expect(catalog.resource('File', '/a')[:notify].map(&:ref)).to eq %w[Service[nginx] Class[Proxy]]
      expect(catalog.resource('File', '/a')[:require].ref).to eq 'User[felix]'
    end

    it 'fail if the collecting node does not have the resource' do
      run_node('web1', "@@file { '/a': require => User['felix'] }")

      expect { run_node('proxy', 'File <<| |>>') }
        .to raise_error(Puppet::Error, /Could not find resource 'User\[felix\]' in parameter 'require'/)
    end

    it 'are related to by resources, chains and metaparameters of the collecting node' do
      run_node('web1', "@@file { '/a': }")
      catalog = run_node('proxy', <<~PUPPET)
        File <<| |>> -> notify { 'after': }
        notify { 'other': require => File['/a'] }
      PUPPET

      expect(catalog.resource('File', '/a')[:before].map(&:to_s)).to eq %w[Notify[after]]
      expect(catalog.resource('Notify', 'other')[:require].to_s).to eq 'File[/a]'
    end

    it 'keep their alias' do
      run_node('web1', "@@file { '/a': alias => 'config' }")
      catalog = run_node('proxy', "File <<| |>>  notify { 'x': require => File['config'] }")

      expect(catalog.resource('File', 'config').title).to eq '/a'
    end
  end

  describe 'with a title that is there twice' do
    it 'fail as Puppet reports it, if two nodes export it' do
      %w[web1 web2].each { |name| run_node(name, "@@file { '/a': }") }

      expect { run_node('proxy', 'File <<| |>>') }
        .to raise_error(Puppet::Error, include('A duplicate resource was found while collecting exported resources, ' \
                                               "with the type and title File[/a]: 'web1' exports it, 'web2' exports " \
                                               'it. Give each a title of its own'))
      # The second collector finds what the first one has added.
      expect { run_node('proxy', "File <<| title == '/a' |>> File <<| |>>") }
        .to raise_error(Puppet::Error, /'web2' exports/)
    end

    it 'name the other node if each of two collectors finds one' do
      %w[web1 web2].each { |name| run_node(name, "@@file { '/a': tag => '#{name}' }") }

      expect { run_node('proxy', 'File <<| tag == web1 |>> File <<| tag == web2 |>>') }
        .to raise_error(Puppet::Error, /title File\[.a\]: 'web1' exports it, 'web2' exports it/)
    end

    it 'fail as Puppet reports it, if the collecting node declares it' do
      run_node('web1', "@@file { '/a': }")

      expect { run_node('proxy', "File <<| |>>  file { '/a': }") }
        .to raise_error(Puppet::Error, /A duplicate .*File\[.a\]: this catalog declares it( at .*:1)?, 'web1' exports/)
    end

    it 'are collected if a filter leaves one' do
      %w[web1 web2].each { |name| run_node(name, "@@file { '/a': tag => '#{name}' }") }

      expect(titles(run_node('proxy', 'File <<| tag == web2 |>>'), 'File')).to eq ['/a']
    end

    it 'are collected once by two collectors' do
      run_node('web1', "@@file { '/a': tag => ['x', 'y'] }")

      expect(titles(run_node('proxy', 'File <<| tag == x |>> File <<| tag == y |>> File <<| |>>'), 'File')).to eq ['/a']
    end
  end

  describe 'of the collecting node itself' do
    it 'are collected as Puppet has compiled them, not as the last run has stored them' do
      run_node('web1', "@@file { '/old': } @@file { '/kept': mode => '0600' }")
      catalog = run_node('web1', "@@file { '/kept': mode => '0644' } @@file { '/new': }  File <<| |>>")

      expect(managed(catalog, 'File').map { |file| [file.title, file[:mode]] })
        .to contain_exactly(['/kept', '0644'], ['/new', nil])
    end

    it 'stay exported when it collects them' do
      run_node('web1', "@@file { '/a': }  File <<| |>>")

      expect(titles(run_node('web2', 'File <<| |>>'), 'File')).to eq ['/a']
    end

    it 'do not become its own when it collects those of others' do
      run_node('web1', "@@file { '/a': }")
      run_node('web2', "@@file { '/b': }  File <<| |>>")

      expect(estate.exports.of('web2')).to match('file' => [include('title' => '/b')])
    end
  end

  it 'vanish with the node\'s next run: one, the last of a type, or all' do
    seen = lambda do
      catalog = run_node('proxy', 'File <<| |>> User <<| |>>')
      titles(catalog, 'File') + titles(catalog, 'User')
    end
    run_node('web1', "@@file { ['/a', '/b']: } @@user { 'felix': }")
    expect(seen.call).to eq %w[/a /b felix]
    run_node('web1', "@@file { '/a': } @@user { 'felix': }")
    expect(seen.call).to eq %w[/a felix]
    run_node('web1', "@@user { 'felix': }")
    expect(seen.call).to eq %w[felix]
    run_node('web1', '')
    expect(seen.call).to eq []
  end

  it 'cross environments' do
    run_node('web1', "@@file { '/a': }", environment: 'testing')

    expect(titles(run_node('proxy', 'File <<| |>>', environment: 'production'), 'File')).to eq ['/a']
    expect(estate.inventory.get('web1')['environment']).to eq 'testing'
  end

  it 'are sorted by node, and in the order of its manifest' do
    run_node('web2', "@@file { ['/d', '/c']: }")
    run_node('web1', "@@file { ['/b', '/a']: }")

    expect(titles(run_node('proxy', 'File <<| |>>'), 'File')).to eq %w[/b /a /d /c]
  end

  it 'stay when a server answers an agent that asks in a wrong environment' do
    run_node('web1', "@@file { '/a': }")
    save('web1', Puppet::Resource::Catalog.new('web1', Puppet::Node::Environment.remote(:testing)))

    expect(estate.exports.of('web1').keys).to eq ['file']
  end

  it 'are listed once a compile, and made once, however many collectors there are' do
    run_node('web1', (1..20).map { |n| "@@file { '/#{n}': tag => 'x' }" }.join)
    allow(estate.store).to receive(:list).and_call_original
    allow(Simpkv::Termini::Resources).to receive(:collected).and_call_original
    run_node('proxy', 'File <<| tag == x |>> File <<| |>> include late class late { File <<| title != "/3" |>> }')

    expect(estate.store).to have_received(:list).with('globals/estate/exported/file', required: false).once
    expect(Simpkv::Termini::Resources).to have_received(:collected).exactly(20).times
  end

  it 'are found among 10,000 in a fraction of a second', :thorough do
    resources = Array.new(100) do |n|
      { 'title' => "/etc/#{n}", 'parameters' => { 'mode' => '0644', 'content' => 'x' * 100 },
        'tags' => ['file', "tag#{n}", 'class'], 'file' => '/etc/puppet/site.pp', 'line' => n }
    end
    100.times { |n| estate.exports.save("web#{n}", { 'file' => resources }, 'production') }
    run_node('proxy', 'File <<| tag == nonesuch |>>')
    before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    catalog = run_node('proxy', "File <<| title == '/etc/7' and tag == nonesuch |>>")

    expect(titles(catalog, 'File')).to eq []
    expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - before).to be < 30
  end
end
