# frozen_string_literal: true

require 'open3'
require 'tmpdir'

# What users install: the packages, not the checkout.
RSpec.describe 'The gems that rake package builds' do
  root = File.expand_path('../..', __dir__)
  packages = File.join(root, 'pkg')

  # Without the bundle of the specs.
  def run(*command, environment: {})
    clean = ENV.select { |name, _| name.start_with?('BUNDLE', 'RUBY', 'GEM', 'SIMPKV_') }.transform_values { nil }
    output, status = Open3.capture2e(clean.merge(environment), *command, chdir: '/')
    raise "#{command.first(4).join(' ')} ... failed:\n#{output}" unless status.success?

    output
  end

  # Stores a key with the gem that `activate` makes visible, and reads it back; prints which binding did.
  def script(activate, folder)
    <<~RUBY
      # encoding: UTF-8
      #{activate}
      require 'simpkv'
      raise 'the checkout was loaded' if $LOADED_FEATURES.grep(%r{/simpkv\\.rb\\z}).none? { |f| f.start_with?('#{folder}') }
      store = Simpkv::Store.open('file', 'root_path' => '#{folder}/kv')
      store.put('globals/k', Simpkv::Codec.encode({ 'v' => [9.898, 'λ'] }, {}))
      raise 'another value' unless Simpkv::Codec.decode(store.get('globals/k'))[:value] == { 'v' => [9.898, 'λ'] }
      puts [Simpkv::VERSION, Simpkv::Native.binding_name, Simpkv::Native.version, RUBY_ENGINE].join(' ')
    RUBY
  end

  before(:all) do
    run('rake', '-f', File.join(root, 'Rakefile'), '-C', root, 'package',
        environment: ENV.to_h.slice('BUNDLE_GEMFILE', 'BUNDLE_PATH', 'BUNDLE_WITHOUT', 'RUBYOPT', 'RUBYLIB'))
  end

  around { |example| Dir.mktmpdir('simpkv-gems') { |folder| (@folder = folder) && example.run } }

  # RubyGems of either Ruby, told to look into the temporary folder alone.
  let(:activate) { "Gem.use_paths('#{@folder}', ['#{@folder}']); gem 'simpkv'" }
  let(:version) { Simpkv::VERSION }

  it 'install into MRI, with the extension' do
    run('gem', 'install', '--local', '--no-document', '--install-dir', @folder,
        File.join(packages, "simpkv-#{version}.gem"))
    expect(run('ruby', '-e', script(activate, @folder))).to include("#{version} cext #{version} ruby")
  end

  it 'install into JRuby, with no Ruby but JRuby' do
    run('jruby', '-S', 'gem', 'install', '--local', '--no-document', '--install-dir', @folder,
        File.join(packages, "simpkv-#{version}-java.gem"))
    expect(run('jruby', '-e', script(activate, @folder))).to include("#{version} ffi #{version} jruby")
  end

  it 'install into puppetserver with `puppetserver gem install`, where its JRuby stores a key' do
    run('puppetserver', 'gem', 'install', '--local', '--no-document', '--install-dir', @folder,
        File.join(packages, "simpkv-#{version}-java.gem"))
    expect(run('puppetserver', 'ruby', '-e', script(activate, @folder)))
      .to include("#{version} ffi #{version} jruby")
  end
end
