# frozen_string_literal: true

require_relative 'command_helper'

RSpec.describe 'simpkv, with commands in groups' do
  include_context 'with the command'

  # A group with one command, in another gem.
  let(:files) do
    { 'site.rb' => "extend Group\nSUMMARY = 'look after sites'", 'site/web_page.rb' => <<~RUBY }
      SUMMARY = 'print a page'
      ARGUMENTS = 'PAGE'
      DESCRIPTION = "Prints it.\n"
      EXAMPLES = {}.freeze

      def run(page)
        output.print('page' => page, 'verbose' => @verbose) { ["page \#{page}"] }
      end

      private

      def define(parser)
        parser.on('--verbose', 'print more') { @verbose = true }
      end
    RUBY
  end

  before do
    write('site.rb', 'module Site', files['site.rb'])
    write('site/web_page.rb', 'module Site; class WebPage < Command', "#{files['site/web_page.rb']}\nend")
    Simpkv::Gems.add('simpkv-site', Simpkv::VERSION, folder)
  end

  after do
    Simpkv::Gems.send(:others).delete('simpkv-site')
    Simpkv::Cli::Commands.send(:remove_const, :Site) if Simpkv::Cli::Commands.const_defined?(:Site)
  end

  # The list of commands reads the lines of files.
  it 'lists what the classes say, also those of other gems' do
    groups = [Simpkv::Cli::Commands, *Simpkv::Cli::Commands.members.values.grep(Simpkv::Cli::Group)]
    expect(groups.length).to be > 8
    groups.each do |group|
      said = group.members.transform_values { |member| [member.section, member::SUMMARY] }
      expect(group.listed.transform_values(&:to_a)).to eq(said)
    end
  end

  def write(name, opening, text)
    file = File.join(folder, 'simpkv/cli/commands', name)
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, "module Simpkv; module Cli; module Commands; #{opening}\n#{text}\nend; end; end; end\n")
  end

  it 'finds a command by the name of its file' do
    expect(simpkv('site', 'web-page', 'index').to_a).to eq(["page index\n", '', 0])
    expect(JSON.parse(simpkv!('-o', 'json', 'site', 'web-page', 'index', '--verbose')))
      .to eq('page' => 'index', 'verbose' => true)
  end

  it 'lists the group with all commands, and its commands with the group' do
    expect(simpkv!).to match(/^  site +look after sites$/)
    texts = [%w[site], %w[site --help], %w[help site]].map { |arguments| simpkv!(*arguments) }
    expect(texts.uniq).to eq([<<~TEXT])
      simpkv site: look after sites

      Usage: simpkv site COMMAND [options] [arguments]

        web-page  print a page

      simpkv site COMMAND --help describes a command
    TEXT
    expect(simpkv!('site', 'web-page', '--help')).to start_with('Usage: simpkv site web-page [options] PAGE')
  end

  it 'names the group when a command in it does not exist' do
    expect(simpkv('site', 'webpage').to_a)
      .to match(['', /no such command 'webpage': did you mean 'web-page'\? \(simpkv site --help names them all\)/, 64])
    expect(simpkv('site', '-g').to_a).to match(['', /no command after -g; simpkv site --help names them/, 64])
  end

  it 'completes the group, its commands and their options' do
    lines = { 'simpkv si' => %w[site], 'simpkv site ' => %w[web-page], 'simpkv help site w' => %w[web-page],
              'simpkv site web-page --verb' => %w[--verbose], 'simpkv site nothing ' => [] }
    lines.each do |line, offered|
      expect(simpkv!('complete', '--line', line).lines.map { |found| found[/[^\t\n]+/] }).to eq(offered)
    end
  end

  it 'loads only the command that is called' do
    script = "require 'simpkv/cli'; Simpkv::Cli.run(%w[exists a]); puts $LOADED_FEATURES.grep(%r{/cli/commands/})"
    lib = File.expand_path('../../lib', __dir__)
    out, = Open3.capture2({ 'SIMPKV_CONFIG' => config }, RbConfig.ruby, "-I#{lib}", '-e', script, err: File::NULL)
    expect(out.lines.map { |file| File.basename(file, ".rb\n") }).to eq(%w[exists])
  end
end
