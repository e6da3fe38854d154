# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require 'tmpdir'
require_relative '../spec_helper'

# The author of a module tests its functions and classes with rspec-puppet, and configures no backend.
RSpec.describe 'The unit tests of a module that calls functions of simpkv', needs: :mri do
  let(:folder) { Dir.mktmpdir('simpkv-unit-tests') }
  let(:machine) { File.join(folder, 'machine') }

  before do
    modules = File.join(folder, 'modules')
    FileUtils.mkdir_p([File.join(modules, 'app', 'manifests'), File.join(folder, 'tmp')])
    File.symlink(File.expand_path('../..', __dir__), File.join(modules, 'simpkv'))
    File.write(File.join(modules, 'app/manifests/init.pp'), <<~PUPPET)
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
      end
      describe 'simpkv::exists', type: :puppet_function do
        it { is_expected.to run.with_params('k').and_return(false) }
      end
    RUBY
  end

  after { FileUtils.remove_entry(folder) }

  # It wrote into the store that the catalogs of this machine use, and read from it.
  it 'use a store below the temporary vardir, and leave none behind' do
    output, status = Open3.capture2e({ 'TMPDIR' => File.join(folder, 'tmp'), 'SPEC_OPTS' => nil }, RbConfig.ruby,
                                     '-I', File.expand_path('../../lib', __dir__), '-S', 'rspec', '-r', './machine.rb',
                                     '--order', 'defined', 'app_spec.rb', chdir: folder)
    expect(output).to match(/^4 examples, 0 failures/)
    expect([status.exitstatus, File.exist?(machine), Dir.children(File.join(folder, 'tmp'))]).to eq([0, false, []])
  end
end
