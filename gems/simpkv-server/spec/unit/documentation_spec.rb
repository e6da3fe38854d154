# frozen_string_literal: true

require_relative '../../../../rakelib/documentation'
require_relative '../../../../spec/support/messages_of_the_code'

RSpec.describe 'The documentation' do
  root = Documentation::ROOT
  sections = Simpkv::Config::Sections.all.each_value.map { |section| section::OPTIONS }
  options = [Simpkv::Config::CALL, Simpkv::Config::LEVEL, Simpkv::Config::BACKEND, Simpkv::Config::AUDIT, sections,
             Simpkv::Config::Sections::Estate::INSPECTION_RULES, Simpkv::Config::Sections::Server::SIGN_IN,
             *Simpkv::Config::TYPES.values].flatten
  functions = Dir[File.join(root, 'lib/puppet/functions/**/*.rb')].sort

  it 'of the options is generated from their definitions by `rake docs`' do
    expect(File.read(File.join(root, 'docs', 'configuration.md'), encoding: 'UTF-8'))
      .to eq(Documentation.configuration)
  end

  it 'names every option in a table, with its valid values' do
    page = Documentation.configuration
    options.each { |option| expect(page).to include("| `#{option.name}` | #{Simpkv::Coercion.needed(option.type)} |") }
  end

  # Searches the code for the words of each message, without the parts that are quoted or filled in.
  it 'quotes existing errors' do
    code = MessagesOfTheCode.read(except: %r{/options[/.]})
    pieces = options.flat_map(&:errors).flat_map { |error| error.split(/\.\.\.:?|'\w*'|\w+=/) }
    pieces = pieces.map(&:strip).grep(/\w \w/)
    expect(pieces.size).to be > 30
    expect(pieces.uniq.reject { |piece| code.include?(piece.b) }).to eq([])
  end

  # logrotate ran as root, in a folder that puppet may change.
  it 'rotates the audit log as the owner of its folder, as the packages do' do
    rotation, folder, page = %w[packaging/system/simpkv.logrotate packaging/system/simpkv.tmpfiles docs/audit.md]
                             .map { |file| File.read(File.join(root, file)) }
    user, group = folder.match(%r{^d /var/log/simpkv 2770 (\w+) (\w+) })&.captures
    expect(rotation).to match(/^    su #{user} #{group}$/)
    expect(page).to include(rotation.sub(/\A#.*\n/, ''), "install -d -o #{user} -g #{group} -m 2770 /var/log/simpkv")
    expect(user).not_to eq('root')
  end

  it 'has a row for each function' do
    # Those in the folder `support` are not for manifests.
    names = Dir['*.rb', base: File.join(root, 'lib/puppet/functions/simpkv')].map { |file| "simpkv::#{file[/\w+/]}" }
    table = File.read(File.join(root, 'docs', 'functions.md'), encoding: 'UTF-8').lines.grep(/\A\| `simpkv::/)
    expect(table.flat_map { |row| row[/\A\| (.*?)(?<!\\) \|/, 1].scan(/simpkv::\w+(?=\()/) }.uniq).to match_array(names)
  end

  describe 'of the functions, REFERENCE.md,' do
    reference = File.read(File.join(root, 'REFERENCE.md'), encoding: 'UTF-8')
    private_functions, public_functions = functions.partition { |file| File.read(file).match?(/^# @api private$/) }

    it 'has no private function (it listed them)' do
      names = private_functions.map { |file| file[%r{simpkv/.*(?=\.rb)}].gsub('/', '::') }
      expect(names.size).to be_positive
      names.each { |name| expect(reference).not_to include(name) }
    end

    it 'gives each description and each example once (it gave them twice)' do
      public_functions.each do |file|
        source = File.read(file, encoding: 'UTF-8')
        paragraphs = source[/^(# .*\n|#\n)+(?=Puppet::Functions)/].gsub(/^# ?/, '').sub(/^@summary .*\n/,
                                                                                        '').split(/\n{2,}/)
        examples = source.scan(/@example (.+)/).flatten
        [*paragraphs.map(&:strip).reject(&:empty?), *examples].each do |text|
          expect(reference.scan(text)).to eq([text])
        end
      end
    end
  end

  functions.each do |file|
    describe "of #{file[%r{simpkv/.*(?=\.rb)}].gsub('/', '::')}" do
      let(:source) { File.read(file, encoding: 'UTF-8') }

      it 'has a summary, a return value, errors, an example, and each parameter' do
        expect(source).to match(/^# @summary \w/).and match(/^  # @return \[/).and match(/^  # @raise \w+Error \w/)
          .and match(/^  # @example \w/)
        parameters = source.scan(/^    (?:optional_|repeated_|required_block_)?param '.*',\s+:(\w+)/)
        expect(source.scan(/^  # @param (\w+)/)).to eq(parameters)
      end

      it 'names existing options, with their types' do
        source.scan(/@option options \[(\w+|Enum\[[\w,]+\])\] '(\w+)'/).each do |type, name|
          next if Simpkv::Secrets::Request::NAMES.include?(name) # the core knows them: simpkv_secret.h

          known = Simpkv::Config::CALL.find { |option| option.name == name }&.type
          known = "enum[#{known.join(',')}]" if known.is_a?(Array)
          expect([name, known.to_s.capitalize]).to eq([name, type])
        end
      end
    end
  end
end
