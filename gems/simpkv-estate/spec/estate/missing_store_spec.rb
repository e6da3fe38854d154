# frozen_string_literal: true

require_relative 'exports_helper'

# The estate used to make a missing store. Collectors found nothing in it, and those that purge removed what they had
# collected.
RSpec.describe 'An estate whose store has vanished' do
  include EstateSite

  let(:root) { backend['root_path'] }
  let(:exporting) { "@@file { '/a': }" }

  before { run_node('web1', exporting) }

  # @param configured [Boolean] whether the process starts again
  def vanish(configured)
    File.rename(root, "#{root}.away")
    configure if configured
  end

  def left
    Dir.glob("#{root}{,/**/*}")
  end

  def expect_refusal(&block)
    message = /\Asimpkv estate: could not .*: there is no store in the folder '#{root}': .* mount .*'simpkv init'/
    expect(&block).to raise_error(Puppet::Error, message)
  end

  [false, true].each do |soft|
    { 'a running process' => false, 'a new process' => true }.each do |process, configured|
      context "in #{process}#{', with soft: true' if soft}" do
        let(:site_options) { { 'soft' => soft } }

        it 'fails to collect and to save, and makes no folder' do
          vanish(configured)

          expect_refusal { compile('web2', 'File <<| |>>') }
          expect_refusal { run_node('web1', '') }
          expect(left).to eq([])
        end

        it 'does the same at an empty mount point' do
          vanish(configured)
          Dir.mkdir(root)

          expect_refusal { compile('web2', 'File <<| |>>') }
          expect_refusal { run_node('web1', '') }
          expect(left).to eq([root])
        end
      end
    end
  end

  it 'goes on when the store is there again' do
    vanish(false)
    expect_refusal { compile('web2', 'File <<| |>>') }
    File.rename("#{root}.away", root)

    expect(titles(compile('web2', 'File <<| |>>'), 'File')).to eq(['/a'])
  end

  context 'without root_path' do
    let(:home) { File.join(scratch, 'vardir') }
    let(:place) { File.join(home, 'simp/simpkv/file/estate') }
    let(:absent) { Simpkv::Estate.new({ 'backends' => { 'default' => settings } }, [[home], []]) }
    let(:settings) { { 'type' => 'file', 'id' => 'estate' } }

    before { allow(Simpkv::Config).to receive(:default_root_path).and_return(File.join(scratch, 'preferred')) }

    it 'names the preferred place if none exists, and uses the one that exists' do
      preferred = File.join(scratch, 'preferred')
      expect { absent.store }.to raise_error(Simpkv::ConfigError, /no store in the folder '#{preferred}'/)
      expect(Dir.exist?(preferred)).to be(false)

      store = Simpkv::Store.open('file', 'root_path' => place)
      Simpkv::Estate.new({}) { store }.make
      store.close
      expect(absent.exports.all('file')).to eq({})
    end
  end
end
