# frozen_string_literal: true

require_relative '../support/packages'

# packaging/start.rb writes it, and spec/distribution has it as the packages install it.
RSpec::Matchers.define_negated_matcher(:not_include, :include)

RSpec.describe 'The command of the packages' do
  gems = 'usr/lib/ruby/gems/3.1.0/gems'
  server = "usr/lib/simpkv/gems/gems/simpkv-server-#{Simpkv::VERSION}/lib"

  # The files of the packages are links to those of this checkout.
  before(:all) do
    @root = Dir.mktmpdir('simpkv-root')
    { 'simpkv' => '.', 'simpkv-estate' => 'gems/simpkv-estate', 'simpkv-rspec' => 'gems/simpkv-rspec' }
      .each { |name, code| link("#{gems}/#{name}-#{Simpkv::VERSION}/lib", "#{code}/lib") }
    # The program finds the code from its own place.
    FileUtils.cp_r(File.join(Packages::ROOT, 'exe'), "#{@root}/#{gems}/simpkv-#{Simpkv::VERSION}")
    link(server, 'gems/simpkv-server/lib')
    FileUtils.mkdir_p("#{@root}/usr/bin")
    text = Packages.run(RbConfig.ruby, 'packaging/start.rb', RbConfig.ruby, @root, folder: Packages::ROOT)
    File.write("#{@root}/usr/bin/simpkv", text, perm: 0o755)
  end

  after(:all) { FileUtils.remove_entry(@root) }

  def link(name, target)
    FileUtils.mkdir_p(File.dirname(File.join(@root, name)))
    File.symlink(File.join(Packages::ROOT, target), File.join(@root, name))
  end

  # @return [Array(String, Array<String>)] what the command prints, and the files that it loads
  def simpkv(*arguments, environment: {})
    record = { 'RUBYOPT' => "-r#{Packages::ROOT}/spec/support/loaded_features", 'HOME' => @root,
               'LOADED_FEATURES' => "#{@root}/features" }
    FileUtils.rm_f("#{@root}/features")
    said, = Packages.try("#{@root}/usr/bin/simpkv", *arguments, environment: record.merge(environment))
    [said, File.readlines("#{@root}/features", chomp: true)]
  end

  let(:rubygems) { a_string_ending_with('/rubygems.rb') }

  it 'runs without RubyGems, with the gems that the packages have' do
    said, loaded = simpkv('--help')
    expect(said).to include('print the value of a key', 'list the nodes that Puppet has stored', 'over HTTP')
    expect(said).not_to include('encrypt documents under the first key')
    expect(loaded).not_to include(rubygems)
    expect(simpkv('get', '--vardir', @root, 'a')).to match([/no folder|not found/, not_include(rubygems)])
  end

  it 'starts RubyGems for a library that they do not have, and says what is missing as before' do
    said, loaded = simpkv('query', 'nodes { }', environment: { 'GEM_HOME' => @root, 'GEM_PATH' => @root })
    expect(said).to start_with('simpkv: simpkv query cannot be used: cannot load such file -- ')
    expect(loaded).to include(rubygems)
  end

  it 'finds a gem of simpkv that somebody has installed, and asks RubyGems for no other' do
    said, loaded = simpkv('rekey', '--help')
    expect([said, loaded]).to match([/rekey needs the gem simpkv-operations/, not_include(rubygems)])
    home = "#{@root}/home/gems/simpkv-operations-#{Simpkv::VERSION}/lib"
    link(home.delete_prefix(@root), 'gems/simpkv-operations/lib')
    FileUtils.mkdir_p("#{@root}/home/specifications")
    File.write("#{@root}/home/specifications/simpkv-operations-#{Simpkv::VERSION}.gemspec", <<~RUBY)
      Gem::Specification.new('simpkv-operations', '#{Simpkv::VERSION}') { |gem| gem.summary = gem.author = 'simpkv' }
    RUBY
    said, = simpkv('rekey', '--help', environment: { 'GEM_HOME' => "#{@root}/home", 'GEM_PATH' => "#{@root}/home" })
    expect(said).to start_with('Usage: simpkv rekey')
  end

  it 'runs with RubyGems where Ruby has loaded it, as the service starts itself' do
    said, = Packages.try(RbConfig.ruby, "#{@root}/usr/bin/simpkv", '--version')
    expect(said).to eq("simpkv #{Simpkv::VERSION}\n")
  end
end
