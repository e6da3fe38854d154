# frozen_string_literal: true

require 'open3'
require 'tmpdir'
require_relative '../spec_helper'
require_relative '../support/another_ruby'
require_relative '../support/page_commands'

# Runs unit tests as the author of a module does, in processes of their own.
module UnitTests
  ROOT = File.expand_path('../..', __dir__)

  # @param arguments [Array<String>] of rspec
  # @return [Array(String, Integer)] what it printed, and its exit code. Its temporary files are below `tmp`
  def rspec(*arguments, variables: {})
    variables = { 'TMPDIR' => File.join(folder, 'tmp'), 'SPEC_OPTS' => nil, 'MODULES' => modules }.merge(variables)
    output, status = Open3.capture2e(variables, *AnotherRuby.command('-S', 'rspec', *arguments), chdir: folder)
    [output, status.exitstatus]
  end

  # Makes a modulepath with simpkv and the module app.
  def write_modules(manifest)
    FileUtils.mkdir_p([File.join(modules, 'app', 'manifests'), File.join(folder, 'tmp')])
    File.symlink(ROOT, File.join(modules, 'simpkv'))
    File.write(File.join(modules, 'app/manifests/init.pp'), manifest)
  end

  # @return [Array<String>] what is left in the folder of temporary files
  def left
    Dir.children(File.join(folder, 'tmp'))
  end
end

# The author of a module tests its functions and classes with rspec-puppet, and configures no backend.
RSpec.describe 'The unit tests of a module that calls functions of simpkv', needs: :mri do
  include UnitTests

  let(:folder) { Dir.mktmpdir('simpkv-unit-tests') }
  let(:modules) { File.join(folder, 'modules') }
  let(:machine) { File.join(folder, 'machine') }

  before do
    write_modules(<<~PUPPET)
      class app {
        $created = simpkv::get_or_create('app/password', {}) |$key| { 'from a test' }
        notify { $created['value']: }
      }
    PUPPET
    File.write(File.join(folder, 'machine.rb'), <<~RUBY)
      require 'simpkv'
      Simpkv::Config.define_singleton_method(:default_root_path) { |id| File.join('#{machine}', id) }
    RUBY
    File.write(File.join(folder, 'app_spec.rb'), <<~RUBY)
      require 'rspec-puppet'
      RSpec.configure { |config| config.module_path = '#{modules}'; config.setup_fixtures = false }
      describe('app', type: :class) { 2.times { it { is_expected.to contain_notify('from a test') } } }
      describe 'simpkv::put', type: :puppet_function do
        it { is_expected.to run.with_params('k', 1) }

        { 'type' => 'file', 'root_path' => '/srv/simpkv-of-no-test' }.then do |site|
          it do
            is_expected.to run.with_params('k', 1, {}, 'backends' => { 'default' => site.merge('id' => 'x') })
                              .and_raise_error(/ '\\/srv.* is not a temporary place.*'simpkv.rspec'/)
          end
        end
      end
      describe 'simpkv::exists', type: :puppet_function do
        it { is_expected.to run.with_params('k').and_return(false) }
      end
    RUBY
  end

  after { FileUtils.remove_entry(folder) }

  # It wrote into the store that the catalogs of this machine use, and read from it.
  it 'use a store below the temporary vardir, leave none behind, and are refused the one of the site' do
    output, code = rspec('-r', './machine.rb', '--order', 'defined', 'app_spec.rb')
    expect(output).to match(/^5 examples, 0 failures/)
    expect([code, left, *[machine, '/srv/simpkv-of-no-test'].map { |place| File.exist?(place) }])
      .to eq([0, [], false, false])
  end
end

# docs/testing.md, and the sample module that it describes.
RSpec.describe 'The unit tests of a module with the kit', needs: :mri do
  include UnitTests
  include PageCommands

  let(:folder) { Dir.mktmpdir('simpkv-unit-tests') }
  let(:modules) { File.join(folder, 'modules') }

  before { write_modules("class app {}\n") }

  after { FileUtils.remove_entry(folder) }

  # @return [Array<String>] the Ruby of the page
  def blocks
    File.read(File.join(PageCommands::DOCS, 'testing.md'), encoding: 'UTF-8').scan(/^```ruby\n(.*?)^```$/m).flatten
  end

  # Each example compiles the same catalog, as far as rspec-puppet can tell. The inner `hiera_data` used to hide the
  # one of the kit, so that rspec-puppet took the catalog of an earlier example, which had written to another store.
  def nested_spec
    <<~RUBY
      describe 'webapp' do
        let(:facts) { { 'networking' => { 'ip' => '192.0.2.11' } } }
        shared_context('data') { let(:hiera_data) { { 'a' => 1 } } }
        shared_examples('stored') { it { is_expected.to have_stored('webapp/db_password', global: true) } }

        context('of a type', type: :class) do
          include_context 'data'
          include_examples 'stored'
          context 'with data of its own' do
            let(:hiera_data) { { 'a' => 1 } }
            include_examples 'stored'
          end
          context 'with shared data' do
            include_context 'data'
            include_examples 'stored'
          end
          it { expect(hiera_data).to eq('a' => 1) }
        end
      end
    RUBY
  end

  # Runs the commands of the page. As with parallel_tests, another process runs other specs of the module at once.
  it 'pass in the sample module, beside another process with the specs of the page, and leave nothing behind' do
    script = commands('testing.md', 'The sample module').gsub('/tmp/webapp', "#{folder}/webapp")
    script.sub!(/^bundle exec rspec$/, <<~SH)
      bundle exec rspec & pid=$!
      TEST_ENV_NUMBER=2 bundle exec rspec --options none -I spec -r spec_helper page_spec.rb nested_spec.rb
      wait $pid
    SH
    FileUtils.mkdir_p("#{folder}/webapp")
    File.write("#{folder}/webapp/page_spec.rb", blocks[1])
    File.write("#{folder}/webapp/nested_spec.rb", nested_spec)
    output, status = Open3.capture2e({ 'TMPDIR' => "#{folder}/tmp", 'SPEC_OPTS' => nil }, 'sh', '-e', '-c', script,
                                     chdir: UnitTests::ROOT)
    expect(output.scan(/^\d+ examples, \d+ failures/)).to contain_exactly('8 examples, 0 failures',
                                                                          '9 examples, 0 failures'), output
    expect([status.exitstatus, left]).to eq([0, []])
  end

  it 'pass without rspec-puppet' do
    File.write(File.join(folder, 'plain_spec.rb'), blocks[2])
    output, code = rspec('plain_spec.rb')
    expect(output).to match(/^2 examples, 0 failures/)
    expect([code, left]).to eq([0, []])
  end
end
