# frozen_string_literal: true

require_relative '../puppet_helper'

# Where nothing may be stored, nothing is made.
RSpec.describe 'The placeholder of simpkv::secret' do
  let(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => { 'type' => 'memory', 'id' => 'secrets' } } }) }
  let(:stored) { MemoryStore.entries('memory/secrets').compact }
  let(:skipping) { "{ 'noop_writes' => 'skip' }" }

  mark = '!simpkv-placeholder!app1/db'

  after do
    world.close
    MemoryStore.clear
  end

  def compile(manifest, noop: true)
    world.compile(manifest, facts: { 'clientnoop' => noop })
  end

  it 'stands for a missing secret of a node in noop mode, and is not stored' do
    compile("notice(simpkv::secret('app1/db', #{skipping}).unwrap)")
    expect(world.notices).to include(mark)
    expect(stored).to be_empty
  end

  it 'stands for a missing form, and not for a secret and a form that exist' do
    compile(<<~PUPPET, noop: false)
      $made = simpkv::secret('app1/db', { 'format' => 'ssha' })
    PUPPET
    compile(<<~PUPPET)
      notice(simpkv::secret('app1/db', { 'format' => 'ssha' } + #{skipping}).unwrap)
      notice(simpkv::secret('app1/db', { 'format' => 'yescrypt' } + #{skipping}).unwrap)
    PUPPET
    expect(world.notices).to include(/\A{SSHA}/, mark)
  end

  it 'is not put by a function' do
    manifest = "$made = simpkv::secret('app1/db', #{skipping})\n"
    ["simpkv::put('app1/copy', $made)", "simpkv::put('app1/copy', { 'a' => [\"x${made.unwrap}\"] })",
     "simpkv::get_or_create('app1/copy', $made)", "simpkv::put('app1/copy', upcase($made.unwrap))"].each do |call|
      expect { compile("#{manifest}#{call}") }.to raise_error(Puppet::Error, /depend on the placeholder of a secret/)
    end
    expect(stored).to be_empty
  end

  it 'stands for no earlier secret' do
    compile("$made = simpkv::secret('app1/db')", noop: false)
    expect { compile("simpkv::secret('app1/db', { 'version' => -1 } + #{skipping})") }
      .to raise_error(Puppet::Error, /has no version -1/)
  end

  it 'does not fail a put that is skipped as well' do
    compile("notice(simpkv::put('app1/copy', simpkv::secret('app1/db', #{skipping}), {}, #{skipping}))")
    expect(world.notices).to include('true')
  end

  it 'stops an agent that applies the catalog without noop' do
    manifest = "notify { 'x': message => simpkv::secret('app1/db', #{skipping}) }"
    catalog = compile(manifest)
    expect(catalog.resource('Simpkv_placeholder', 'simpkv')).not_to be_nil
    Puppet[:statedir] = world.state_folder
    expect { catalog.to_ral.apply }.to raise_error(Puppet::Error)
    expect(world.log).to include(/placeholders in this catalog stand for secrets that were not made/)
    Puppet[:noop] = true
    expect { catalog.to_ral.apply }.not_to raise_error
  end

  it 'stops it, too, if one resource is applied in spite of noop' do
    catalog = compile("notify { 'x': message => simpkv::secret('app1/db', #{skipping}), noop => false }")
    Puppet[:statedir] = world.state_folder
    Puppet[:noop] = true
    expect { catalog.to_ral.apply }.to raise_error(Puppet::Error)
    expect(world.log).to include(/placeholders in this catalog stand for secrets that were not made/)
  end

  it 'adds nothing to a catalog without one' do
    catalog = compile("notify { 'x': message => simpkv::secret('app1/db') }")
    expect(catalog.resource('Simpkv_placeholder', 'simpkv')).to be_nil
  end
end
