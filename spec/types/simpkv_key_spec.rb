# frozen_string_literal: true

require_relative 'puppet_process'
require_relative 'types_helper'

# Examples beside the acceptance in keys_spec.rb and secrets_spec.rb.
RSpec.describe Puppet::Type.type(:simpkv_key) do
  include_context 'with keys as resources'

  def sensitive(value)
    Puppet::Pops::Types::PSensitiveType::Sensitive.new(value)
  end

  # @return [Array<Object>] all that a run says and reports
  def said
    [log, @report.to_data_hash].to_s
  end

  describe 'with a Deferred' do
    # As Puppet 8 calls functions, at the evaluation of the resource. It unwraps a Sensitive, and says so only if an
    # argument of the function is one.
    def later(&function)
      later = Puppet::Pops::Evaluator::DeferredValue.new(function)
      apply!("simpkv_key { 'app1/a': value => 'placeholder' }") do |catalog|
        catalog.resource(:simpkv_key, 'app1/a')[:value] = later
      end
    end

    it 'stores the result' do
      later { [1, 'text'] }
      expect(documents).to eq('app1/a' => '{"value":[1,"text"],"metadata":{}}')
    end

    it 'stores a Sensitive that the function returns as Sensitive, and shows nothing of it' do
      2.times { later { sensitive('s3cret') } }
      expect(documents['app1/a']).to include('Sensitive').and include('s3cret')
      later { sensitive('s3cret2') }
      expect(changed).to eq(key_resources('app1/a'))
      expect(said).to include('changed [redacted] to [redacted]')
      expect(said).not_to include('s3cret')
    end
  end

  # It ended with "undefined method `match?'", or a purge ignored the parameter.
  describe 'with a Deferred that is called late, in a parameter that is needed before the run' do
    include PuppetProcess

    { simpkv_key: %i[ensure key backend global],
      simpkv_folder: %i[ensure folder backend global purge recurse purge_unless purge_limit] }.each do |type, names|
      names.each do |name|
        it "is refused for the #{name} of a #{type}" do
          later = Puppet::Pops::Evaluator::DeferredValue.new(-> { raise 'called' })
          expect { Puppet::Type.type(type).new(:name => 'app1', name => later) }
            .to raise_error(Puppet::Error, /'#{name}' cannot be Deferred.* set preprocess_deferred to true/)
        end
      end
    end

    it 'names the resource and the parameter, and applies nothing' do
      manifest = "simpkv_key { 'k': value => 1 } simpkv_key { 'one': key => Deferred('sprintf', ['k2']), value => 1 }"
      output, = puppet('apply', '--no-preprocess_deferred', '-e', manifest)
      expect(output).to match(/Simpkv_key\[one\].*'key' cannot be Deferred/)
      expect(keys).to eq([])
      output, code = puppet('apply', '--preprocess_deferred', '-e', manifest)
      expect([code, keys]).to eq([0, %w[k k2]]), output
    end
  end

  it 'stores each member of Sensitive metadata as Sensitive (the document could not be read)' do
    manifest = "simpkv_key { 'app1/a': value => 1, metadata => Sensitive({ 'm' => 's3cret' }) }"
    apply!(manifest)
    expect(documents['app1/a']).to include('"metadata":{"m":{"__ptype":"Sensitive","__pvalue":"s3cret"}}')
    apply!(manifest)
    expect(changed).to eq([])
  end

  it 'makes a key that is audited and has no ensure (nothing happened)' do
    apply!("simpkv_key { 'app1/a': value => 1, audit => all }")
    expect(keys).to eq(%w[app1/a])
  end

  # Puppet keeps the values of an agent's run in transactionstore.yaml.
  it 'tells a change of the manifest from one of the store, and keeps values as plain data' do
    allow(Puppet.run_mode).to receive(:name).and_return(:agent)
    file = Puppet[:transactionstorefile] = File.join(scratch, 'transactionstore.yaml')
    values = ["{ 'a' => [Timestamp('2020-01-01'), /x/, Binary('AAA=')] }", 'false', "'text'", "['text']"]
    values.each do |value|
      apply!("simpkv_key { 'app1/a': value => #{value} }")
      expect([changed, statuses.any?(&:corrective_change)]).to eq([key_resources('app1/a'), false])
    end
    fill('app1/a' => { value: 'other' })
    apply!("simpkv_key { 'app1/a': value => ['text'] }")
    expect(statuses.any?(&:corrective_change)).to be true
    expect(log.grep(/corrupt/)).to eq([])
    apply!("simpkv_key { 'app1/a': value => Sensitive('s3cret') }")
    expect(File.read(file)).not_to include('s3cret')
  end

  it 'is not purged by the type resources, which compares titles' do
    fill('app1/a' => { value: 1 })
    apply("simpkv_key { 'title': key => 'app1/a', value => 1 } resources { 'simpkv_key': purge => true }")
    expect(@report.resources_failed_to_generate).to be true
    expect(log.grep(/the type 'resources' cannot purge keys: use simpkv_folder with 'purge'/).length).to eq(1)
    expect(keys).to eq(%w[app1/a])
  end

  it 'comes after the package with the gem, and after the file with the options and the root folder' do
    manifest = <<~PUPPET
      simpkv_key { 'app1/a': value => 1 }
      file { ['#{scratch}/simpkv.yaml', '#{root}']: }
      package { 'the gem': name => 'simpkv', provider => gem }
    PUPPET
    before = world.compile(manifest).to_ral.resource(:simpkv_key, 'app1/a').autorequire.map { |edge| edge.source.ref }
    expect(before).to contain_exactly('Package[the gem]', "File[#{scratch}/simpkv.yaml]", "File[#{root}]")
  end

  it 'makes Puppet load no other type, such as the one of packages, which takes seconds' do
    known = Puppet::Type.method(:type)
    asked = []
    apply!("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/a': value => 1 }") do
      allow(Puppet::Type).to receive(:type) { |name| (asked << name.to_s.downcase) && known.call(name) }
    end
    expect(asked.uniq).to include('simpkv_folder')
    expect(asked.uniq - %w[simpkv_key simpkv_folder whit component stage schedule class]).to eq([])
  end

  it 'reads the catalog a fixed number of times, also if the place of a key is unknown' do
    manifest = 'Integer[1, 30].each |$n| { simpkv_key { "app1/k${n}": value => 1 } } ' \
               "simpkv_key { 'app1/k99': value => 1, backend => 'unknown' } " \
               "simpkv_folder { 'app1': backend => 'unknown' }"
    reads = 0
    apply(manifest) do |catalog|
      allow(catalog).to(receive(:resources).and_wrap_original { |original| (reads += 1) && original.call })
    end
    expect([keys.length, failed]).to eq([30, %w[Simpkv_folder[app1] Simpkv_key[app1/k99]]])
    expect(reads).to be < 20
  end

  it 'uses the options that the same run writes' do
    File.write(file = File.join(scratch, 'simpkv.yaml'), 'neither YAML nor options: [')
    text = { 'backends' => backends }.to_yaml
    apply!("file { '#{file}': content => #{text.dump} } simpkv_key { 'app1/a': value => 1 }")
    expect(keys).to eq(%w[app1/a])
  end

  it 'makes no store with noop' do
    apply!("simpkv_key { 'app1/a': value => 1 } simpkv_folder { 'app2': ensure => present }", noop: true)
    expect(with_events('noop')).to include(*key_resources('app1/a'))
    expect(File.exist?(root)).to be false
  end

  describe 'with the title of an entry without a usable name' do
    before { fill('app1/A' => { value: 'equal' }, 'app1/B' => { value: 'equal' }, 'app1/C' => { value: 'equal' }) }

    { 'the folder' => ['app1:unnamed-2', 'the folder:unnamed-1'], 'app1' => %w[app1:unnamed-1 app1:unnamed-2] }
      .each do |title, titles|
      it "is that entry for a purge by the folder with the title #{title} as well, also if others go before" do
        apply!(<<~PUPPET)
          simpkv_folder { '#{title}': folder => 'app1', purge => true, purge_unless => ['C'] }
          -> simpkv_key { 'app1:unnamed-2': ensure => absent }
        PUPPET
        expect([keys, removed]).to eq([%w[app1/C], key_resources(*titles)])
      end
    end

    it 'is absent if there is no such entry' do
      apply!("simpkv_key { 'app1:unnamed-4': ensure => absent }")
      expect([changed, keys]).to eq([[], %w[app1/A app1/B app1/C]])
    end

    it 'cannot be present: such a name is never stored' do
      [', value => 1', ', ensure => present', ", metadata => { 'a' => 1 }"].each do |parameters|
        expect { apply("simpkv_key { 'app1:unnamed-1': #{parameters.delete_prefix(', ')} }") }
          .to raise_error(Puppet::Error, /entry without a usable name, which can only be absent: give 'key'/)
      end
      apply!("simpkv_key { 'app1:unnamed-1': key => 'app1:unnamed-1', value => 1 }")
      expect(keys).to include('app1:unnamed-1')
    end
  end
end
