# frozen_string_literal: true

require_relative '../spec_helper'
require_relative '../support/unit_tests'

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
