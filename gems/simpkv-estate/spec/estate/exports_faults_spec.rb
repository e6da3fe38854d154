# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'
require_relative '../../../../spec/support/ldap_store'

RSpec.describe 'Exported resources in a store that fails' do
  include EstateSite
  include EstateTermini

  secret = 'pl4nted-s3cret'

  let(:exporting) { "@@file { '/a': content => Sensitive('#{secret}'), tag => 'x' }" }

  # @return [String] the error with all causes and backtraces
  def failure
    yield
    raise 'no error'
  rescue Puppet::Error => e
    e.full_message(highlight: false)
  end

  def tamper(type, certname)
    name = "exported/#{type}/#{certname}"
    file = File.join(backend['root_path'], 'globals/estate', name)
    File.binwrite(file, yield(File.binread(file)))
    "globals/estate/#{name}"
  end

  # Collectors used to compile without what cannot be read, and those that purge removed it from the nodes.
  def expect_refused(manifest, left_out)
    expect(failure { run_node('proxy', manifest) }).to include('simpkv estate: could not collect ', left_out)
    expect(warnings).to eq([])
    configure('skip_undecodable' => true)
    expect(titles(run_node('proxy', manifest), 'File')).to eq ['/web2']
    expect(warnings.grep(/left out #{Regexp.escape(left_out)}, which cannot be read/).length).to be_between(1, 2)
  end

  shared_examples 'a failing backend' do
    it 'fails the compile of a collector with one clear error' do
      expect(failure { run_node('proxy', 'File <<| |>>') })
        .to include("simpkv estate: could not collect the exported resources of type 'File': ").and include(why)
    end

    it 'fails the save of a catalog with one clear error' do
      expect(failure { run_node('web1', exporting) })
        .to include("simpkv estate: could not save the exported resources of 'web1': ").and include(why)
    end

    it 'fails the save of a catalog without exports, as vanished ones would stay' do
      expect(failure { run_node('web1', '') }).to include(why)
    end

    context 'with soft: true' do
      let(:site_options) { { 'soft' => true } }

      it 'compiles with a warning, and collects nothing' do
        catalog = run_node('proxy', "File <<| |>> notify { 'x': }")

        expect([titles(catalog, 'File'), titles(catalog, 'Notify')]).to eq [[], ['x']]
        expect(warnings.grep(/could not collect the exported resources of type 'File': .*#{Regexp.escape(why)}/).length)
          .to eq 1
        expect(warnings.grep(/could not save .* resources of 'proxy': .*#{Regexp.escape(why)}/).length).to eq 1
      end
    end

    after { expect(texts).not_to include(secret) }
  end

  context 'when no server listens' do
    let(:why) { 'ldap://127.0.0.1:1' }
    let(:backend) do
      password = File.join(scratch, 'password')
      File.write(password, secret)
      { 'type' => 'ldap', 'id' => 'x', 'ldap_uri' => 'ldap://127.0.0.1:1', 'admin_pw_file' => password }
    end

    it_behaves_like 'a failing backend'
  end

  context 'when the folder is a file', needs: :mri do
    let(:why) { 'globals' }

    before do
      FileUtils.rm_r(File.join(backend['root_path'], 'globals'))
      File.write(File.join(backend['root_path'], 'globals'), '')
    end

    it 'fails the compile' do
      expect(failure { run_node('web1', exporting) }).to include('simpkv estate: could not save', why)
    end
  end

  context 'when the server stops between two runs' do
    include_context 'with slapd'

    let(:backend) { directory.options('id' => id).merge('type' => 'ldap') }
    let(:why) { directory.uri }

    before do
      run_node('web1', exporting)
      directory.stop_serving
    end

    after { directory.launch }

    it_behaves_like 'a failing backend'
  end

  describe 'by a document that cannot be read' do
    before do
      %w[web1 web2].each { |name| run_node(name, exporting.sub('/a', "/#{name}")) }
    end

    {
      'is cut off' => ->(text) { text[0, text.length / 2] },
      'is empty' => ->(_) { '' },
      'is no list' => ->(_) { %({"value":"#{secret}","metadata":{}}) },
      'has parameters that are no Hash' => ->(_) { %({"value":[{"title":"/x","parameters":"#{secret}"}]}) },
      'is no UTF-8' => ->(text) { text.sub(secret, "#{secret}\xFF".b) }
    }.each do |what, change|
      it "that #{what} fails the catalog, or is left out with skip_undecodable and a warning" do
        key = tamper('file', 'web1', &change)
        expect_refused('File <<| |>> File <<| tag == x |>>', "'#{key}'")
      end
    end

    {
      'a type that generates code' => '{"__ptype":"Pcore::ObjectType","name":"X"}',
      'a reference into the document' => '{"__ptype":"LocalRef","__pvalue":"$.x"}',
      'an object of a module' => '{"__ptype":"Site::Object","x":1}',
      'a type as an expression' => '{"__ptype":"Runtime[ruby, \'Kernel\']","__pvalue":"x"}',
      'a type that is data' => '{"__ptype":{"__ptype":"Pcore::ObjectType"},"x":1}',
      'a resource type that is a path' => '{"__ptype":"Pcore::ResourceType","type_name":"../../evil","title":"x"}',
      'a resource type with a path' => '{"__ptype":"Pcore::ResourceType","type_name":"File[/../evil","title":"x"}',
      'a resource type that is no text' => '{"__ptype":"Pcore::ResourceType","type_name":["File"],"title":"x"}',
      'a class that is a path' => '{"__ptype":"Pcore::ClassType","class_name":"site::../evil"}',
      'the class of a path' => '{"__ptype":"Pcore::ResourceType","type_name":"Class","title":"site::../evil"}',
      'a Deferred without a name' => '{"__ptype":"Deferred","arguments":[]}',
      'a Binary that is no base64' => '{"__ptype":"Binary","__pvalue":"*"}',
      'a Regexp that is none' => '{"__ptype":"Regexp","__pvalue":"("}',
      'such a type inside a Sensitive' => '{"__ptype":"Sensitive","__pvalue":[{"__ptype":"Runtime","x":1}]}',
      'such a type inside a Deferred' => '{"__ptype":"Deferred","name":"x","arguments":[{"__ptype":"LocalRef"}]}',
      'such a type as a key' => '{"__ptype":"Hash","__pvalue":[{"__ptype":"Runtime"},1]}'
    }.each do |what, data|
      it "whose resource has #{what} fails the catalog, or is left out with skip_undecodable and a warning" do
        tamper('file', 'web1') { |text| text.sub(/\{"__ptype":"Sensitive","__pvalue":"#{secret}"\}/, data) }
        expect_refused('File <<| |>>', "File[/web1] of 'web1'")
      end
    end

    # Puppet looks up the type of a reference that is a String, and loads the file of that name. Such an export used to
    # make the compiler run any Ruby file on its disk.
    describe 'whose resource has a relationship to a path' do
      let(:program) { File.join(scratch, 'program.rb') }
      let(:path) { "#{'../' * 30}#{program.delete_prefix('/').delete_suffix('.rb')}" }

      before { File.write(program, 'raise Exception, "it ran"') }

      {
        'as a String' => ->(path) { "#{path}[x]" }, 'in an Array' => ->(path) { ['File[/web2]', [["#{path}[x]"]]] },
        'in another line' => ->(path) { "File\n#{path}[x]" }, 'after a bracket' => ->(path) { "x]\n#{path}[x]" },
        'after an empty String' => ->(path) { ['', "#{path}[x]"] },
        'as a class' => ->(path) { "Class[site::#{path}]" },
        'as a Symbol' => ->(path) { { '__ptype' => 'Symbol', '__pvalue' => "#{path}[x]" } },
        'as a URI' => ->(path) { { '__ptype' => 'URI', '__pvalue' => "#{path}?[x]" } },
        'as a key' => ->(path) { { "#{path}[x]" => 1 } }
      }.each do |what, value|
        it "#{what} fails the catalog, and runs nothing" do
          %w[before notify require subscribe].each do |name|
            tamper('file', 'web1') do
              Simpkv::Codec.encode([{ 'title' => '/web1', 'parameters' => { name => value.call(path) } }])
            end
            messages.clear
            configure
            expect_refused('File <<| |>>', "File[/web1] of 'web1'")
          end
        end
      end
    end

    it 'fails the catalog when such a parameter decides whether a resource is collected' do
      tamper('file', 'web1') { |text| text.sub('"__ptype":"Sensitive"', '"__ptype":"Runtime"') }
      expect_refused("File <<| content != 'x' |>>", "File[/web1] of 'web1'")
    end

    it 'is stored again by the next run of its node, with the same exports or others' do
      %w[/web1 /new].each do |title|
        tamper('file', 'web1') { '{' }
        run_node('web1', exporting.sub('/a', title))
        expect(titles(run_node('proxy', 'File <<| |>>'), 'File')).to eq([title, '/web2'])
      end
    end

    after { expect(texts).not_to include(secret) }
  end

  # They used to stay away until the node's exports changed.
  it 'come back by the next run of their node, if somebody has deleted a document' do
    manifest = "@@notify { 'a': } @@file { '/a': }"
    run_node('web1', manifest)
    estate.store.delete('globals/estate/exported/notify/web1')
    lost = "'globals/estate/exported/notify/web1' is missing, or hidden from this identity"
    expect(failure { run_node('proxy', 'Notify <<| |>>') }).to include(lost, "The next run of 'web1' stores it again")
    configure('soft' => true)
    expect(failure { run_node('proxy', 'Notify <<| |>>') }).to include(lost)
    run_node('web1', manifest)
    expect(titles(run_node('proxy', 'Notify <<| |>>'), 'Notify')).to eq(%w[a])
  end

  # The run failed before it could store its document again, as long as a collector had its type.
  it 'come back by the next run of their node, if that run collects their type' do
    manifests = { 'web1' => "@@notify { 'a': } Notify <<| |>>", 'proxy' => 'Notify <<| |>>' }
    run_node('web1', manifests['web1'])
    configure # As after a minute: the compiler reads the inventory again.
    [-> { tamper('notify', 'web1') { '{' } },
     -> { estate.store.delete('globals/estate/exported/notify/web1') }].each do |damage|
      damage.call
      expect(failure { run_node('proxy', manifests['proxy']) }).to include("'globals/estate/exported/notify/web1' ")
      %w[web1 proxy].each { |node| expect(titles(run_node(node, manifests[node]), 'Notify')).to eq(%w[a]) }
    end
  end

  describe 'for a reason in the catalog' do
    it 'refuses a node whose name cannot be a key' do
      expect(failure { run_node('web 1', exporting) }).to include(
        "simpkv estate: could not save the exported resources of 'web 1': 'web 1' cannot be the name of a key in " \
        "'globals/estate/inventory': key 'web 1' contains disallowed whitespace"
      )
    end

    it 'names the parameter that no document can hold, and nothing of its value' do
      add_manifest('site::item', 'define site::item($value) { }')
      deep = "#{"{ '#{secret}' => " * 99}1#{' }' * 99}"

      message = failure { run_node('web1', "@@site::item { 'x': value => Sensitive(#{deep}) }") }
      expect(message).to match(/the parameter 'value' of Site::Item\[x\] cannot be stored: nested/)
      expect(message).not_to include(secret)
    end

    it 'names the parameter whose type it cannot restore' do
      add_manifest('site::item', 'define site::item($value) { }')
      FileUtils.mkdir_p(File.join(modules, 'site/types'))
      File.write(File.join(modules, 'site/types/object.pp'),
                 'type Site::Object = Object[{ attributes => { secret => String } }]')

      message = failure do
        run_node('web1', "@@site::item { 'x': value => [Sensitive(Site::Object('#{secret}'))] }")
      end
      expect(message).to include("the parameter 'value' of Site::Item[x] cannot be stored: ")
      expect(message).not_to include(secret)
    end

    after { expect(texts).not_to include(secret) }
  end

  describe 'and their secrets' do
    before do
      Puppet::Util::Log.level = :debug
    end

    after { Puppet::Util::Log.level = :notice }

    it 'are in no message when everything works, at level debug' do
      run_node('web1', exporting)
      run_node('proxy', "File <<| content == 'x' |>> File <<| tag == x |>> { mode => '0600' }")

      expect(messages.map(&:level)).to include(:debug)
      expect(texts).not_to include(secret)
    end

    it 'are in no message when the collected resource is not valid' do
      run_node('web1', exporting)
      add_manifest('site', 'class site { File <<| |>> { nonesuch => 1 } }')
      message = failure { run_node('proxy', 'include site') }

      expect(message).to include('nonesuch')
      expect([message, texts].join).not_to include(secret)
    end

    it 'are in no inspection of what the compile keeps' do
      run_node('web1', exporting)
      inspected = nil
      allow(Simpkv::Termini::Resources).to receive(:collected).and_wrap_original do |original, *arguments|
        original.call(*arguments).tap { |resource| inspected = resource.inspect }
      end
      run_node('proxy', 'File <<| |>>')

      expect(inspected).to include('/a')
      expect(inspected).not_to include(secret)
    end
  end
end
