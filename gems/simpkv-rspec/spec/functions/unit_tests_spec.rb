# frozen_string_literal: true

require_relative '../../../../spec/spec_helper'
require_relative '../../../../spec/support/page_commands'
require_relative '../../../../spec/support/unit_tests'

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
