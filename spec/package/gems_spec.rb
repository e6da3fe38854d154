# frozen_string_literal: true

require_relative '../support/packages'

# Tests the packages that users install, not the checkout.
RSpec.describe 'The gems that rake package builds' do
  # Returns a script that loads the gem after `activate`, stores and reads a key, and prints the name of the binding.
  def script(activate)
    <<~RUBY
      # encoding: UTF-8
      #{activate}
      require 'simpkv'
      raise 'the checkout was loaded' if $LOADED_FEATURES.grep(%r{/simpkv\\.rb\\z}).none? { |f| f.start_with?('#{@folder}') }
      store = Simpkv::Store.open('file', 'root_path' => '#{@folder}/kv')
      store.put('globals/k', Simpkv::Codec.encode({ 'v' => [9.898, 'λ'] }, {}))
      raise 'another value' unless Simpkv::Codec.decode(store.get('globals/k'))[:value] == { 'v' => [9.898, 'λ'] }
      puts [Simpkv::VERSION, Simpkv::Native.binding_name, Simpkv::Native.version, RUBY_ENGINE].join(' ')
    RUBY
  end

  around { |example| Dir.mktmpdir('simpkv-gems') { |folder| (@folder = folder) && example.run } }

  # Restricts RubyGems, of MRI or JRuby, to the temporary folder.
  let(:activate) { "Gem.use_paths('#{@folder}', ['#{@folder}']); gem 'simpkv'" }
  let(:version) { Simpkv::VERSION }

  it 'install into MRI without a registry by the command in docs/install.md (a pattern matched both gems)' do
    @folder = Packages.installed_in_mri
    expect(Dir.children(File.join(@folder, 'gems')))
      .to contain_exactly(File.basename(Packages.progressbar, '.gem'),
                          *%w[simpkv simpkv-operations simpkv-estate simpkv-access].map { |name| "#{name}-#{version}" })
    expect(Packages.run('ruby', '-e', script(activate))).to include("#{version} cext #{version} ruby")
  end

  it 'compile with Ruby alone: no Ruby package beside it is loaded, of Debian or of gems' do
    own = RbConfig::CONFIG.values_at('rubylibdir', 'rubyarchdir')
    rubygems = File.join(RbConfig::CONFIG.fetch('vendordir'), 'rubygems')
    loaded = Packages.loaded_to_install
    expect(loaded.grep(%r{/mkmf\.rb\z})).not_to be_empty
    gem = "#{Packages.installed_in_mri}/gems/simpkv-#{version}/"
    expect(loaded.uniq.grep(%r{\A/}).reject { |file| file.start_with?(*own, rubygems, gem) })
      .to eq(["#{Packages::ROOT}/spec/support/loaded_features.rb"])
  end

  # Files that have been counted, of all, in each line that a terminal has shown.
  def compiled(shown)
    shown.scan(/simpkv: *(\d+) of (\d+) files compiled/).map { |counts| counts.map(&:to_i) }
  end

  it 'show on a terminal how much is compiled (gem install was silent until the end)' do
    counts = compiled(Packages.said_to_install)
    expect(counts.length).to be > 50
    expect(counts.last.first).to eq(counts.last.last)
  end

  it 'install into MRI with the command simpkv, its manual and the schemas' do
    @folder = Packages.installed_in_mri
    expect(simpkv('--version')).to eq("simpkv #{version}\n")
    expect(simpkv('put', 'app1/greeting', 'λ')).to eq('')
    expect(simpkv('get', 'app1/greeting')).to eq('λ')
    expect(simpkv('man')).to include('SIMPKV(1)', 'put [options] KEY [VALUE]')
    expect(simpkv('schema', '--layout', 'hex')).to start_with('# The hex layout')
    expect(simpkv('completion', 'bash')).to include('complete -F _simpkv simpkv')
  end

  # Runs the installed command, which keeps its keys in the temporary folder. Returns its output.
  def simpkv(*arguments)
    config = File.join(@folder, 'simpkv.yaml')
    File.write(config, "backends: {default: {type: file, id: x, root_path: #{@folder}/kv}}\n")
    Packages.run(File.join(@folder, 'bin', 'simpkv'), *arguments,
                 environment: { 'GEM_HOME' => @folder, 'GEM_PATH' => @folder, 'SIMPKV_CONFIG' => config })
  end

  # The stage puppetserver installs them into its JRuby, and loads them there.
  it 'install into JRuby, and load after an upgrade of Java, which changes the folder of extensions', :long do
    shown, installed = Packages.install(%w[jruby -S gem], :java, @folder, terminal: true)
    expect([shown, installed]).to match([/Successfully installed/, true])
    expect(compiled(shown).last.uniq.length).to eq(1)
    before = Dir[File.join(@folder, 'extensions', 'universal-java-*')].fetch(0)
    File.rename(before, before.sub(/\d+\z/, '8'))
    expect(Packages.run('jruby', '-e', script(activate))).to include("#{version} ffi #{version} jruby")
  end

  it 'contain the files that README.md refers to, and nothing of the module or the tests' do
    ruby, java = Packages::GEMS.values_at(:ruby, :java).map do |gem|
      Packages.run('gem', 'specification', Packages.file(gem), 'files').scan(/^- (.+)$/).flatten
    end
    expect(ruby - java).to eq(['exe/simpkv'])
    files = ruby | java
    expect(files).to include('README.md', 'docs/configuration.md', 'docs/simpkv.1', 'docs/simpkv.yaml.5',
                             'schema/openldap/simpkv.schema')
    expect([ruby, java]).to all(include('ext/core/include/simpkv.h'))
    expect(files.grep(%r{simpkv/(?:access|cli/transfer|estate|query|rspec|server)/})).to be_empty
    expect(files.grep(%r{\A(spec|bin|lib/puppet_x|ext/core/(test|fuzz|build))})).to be_empty
    expect(files.grep(%r{\Alib/puppet/(feature|functions|provider|type)})).to be_empty
  end
end
