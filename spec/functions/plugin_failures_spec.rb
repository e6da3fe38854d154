# frozen_string_literal: true

require_relative '../puppet_helper'

RSpec.describe 'Failures of plugins' do
  let!(:world) { PuppetWorld.new }
  let(:options) { { 'backends' => { 'default' => { 'type' => 'acme', 'id' => 'x' } } } }

  after { world.close }

  # Adds a plugin whose methods have these bodies.
  def plugin(bodies)
    methods = { 'configure' => '{ result: true, err_msg: nil }' }.merge(bodies).map do |name, body|
      "def #{name}#{'(*arguments)' unless name == 'name'}\n#{body}\nend"
    end
    world.add_plugin('alpha', 'acme', <<-RUBY)
      plugin_class = Class.new do
        attr_reader :name
        def initialize(name)
          @name = name
        end
        #{methods.join("\n")}
      end
    RUBY
  end

  def get(more = {})
    world.call('simpkv::get', 'a', options.merge(more))
  end

  {
    'Integer("s3cret")' => 'ArgumentError', '{}.fetch("s3cret")' => 'KeyError', '"s3cret" + 1' => 'TypeError',
    'throw "s3cret"' => 'UncaughtThrowError', '"s3cret".oops' => 'NoMethodError', '[0].first("s3cret")' => 'TypeError',
    'JSON.parse("s3cret")' => 'JSON::ParserError', '"s3cret\xff".encode("UTF-16")' => 'Encoding::InvalidByteSequenceError'
  }.each do |body, name|
    it "do not show the value that #{name} quotes: #{body}" do
      plugin('get' => body)
      expect { get }.to raise_error(RuntimeError, %r{simpkv acme/x Error: #{name} at .*alpha}) do |error|
        expect(error.message).not_to include('s3cret')
      end
    end
  end

  it 'keep the text of a RuntimeError' do
    plugin('get' => 'raise "the acme server is down"')
    expect { get }.to raise_error(RuntimeError, %r{simpkv acme/x Error: the acme server is down})
  end

  # The stack overflows on a thread of its own: afterwards JRuby may count a thread's scopes wrongly, which fails when
  # its main thread ends.
  overflow = 'def deep; deep; end; Thread.new { Thread.current.report_on_exception = false; deep }.value'
  ['raise Exception, "boom"', 'require "no_such_gem_anywhere"', overflow].each do |body|
    it "become warnings with softfail: #{body}" do
      plugin('get' => body)
      expect { get }.to raise_error(RuntimeError, %r{simpkv acme/x Error:})
      expect(get('softfail' => true)).to be_nil
      expect(world.warnings.last).to include('simpkv acme/x Error:')
    end

    it "break no other plugin while a plugin is loaded: #{body}" do
      file = world.add_plugin('alpha', 'acme', body)
      expect(world.adapter.backends).to eq(%w[file ldap memory])
      expect(world.warnings).to match([/\Asimpkv plugin from #{file} failed to load: /])
    end
  end

  # softfail turned each of these into a warning, so that the catalog was applied after Ctrl-C.
  { 'exit 3' => SystemExit, 'raise Interrupt' => Interrupt, 'raise SignalException, "TERM"' => SignalException,
    'raise NoMemoryError' => NoMemoryError }.each do |body, error|
    it "do not include exceptions that end the process: #{body}" do
      plugin('get' => body)
      expect { get('softfail' => true) }.to raise_error(error)
      plugin('configure' => body)
      expect { world.fresh_environment && get('softfail' => true) }.to raise_error(error)
      world.add_plugin('alpha', 'acme', body)
      expect { world.fresh_environment.adapter }.to raise_error(error)
      expect(world.warnings).to eq([])
    end
  end

  it 'name the method that a plugin lacks' do
    plugin('get' => 'nil')
    expect { world.call('simpkv::delete', 'a', options) }
      .to raise_error(RuntimeError, %r{simpkv acme/x Error: the plugin has no method 'delete'})
  end

  it 'include a list whose names are no Strings' do
    plugin('list' => '{ result: { keys: { a: "{}" }, folders: [] }, err_msg: nil }')
    expect { world.call('simpkv::list', 'a', options) }
      .to raise_error(RuntimeError, %r{simpkv acme/x Error: list returned no result and no reason})
  end

  it 'do not include an empty reason' do
    plugin('get' => %q({ result: '{"value":1}', err_msg: '' }))
    expect(get).to eq('value' => 1)
  end

  it 'do not include any other result of configure' do
    plugin('configure' => 'nil', 'get' => %q({ result: '{"value":1}', err_msg: nil }))
    expect(get).to eq('value' => 1)
  end

  it 'of configure keep their reason, which may name an option' do
    plugin('configure' => 'raise ArgumentError, "acme_uri is missing"')
    expect { get }.to raise_error(RuntimeError, %r{simpkv Error: Unable to construct 'acme/x': acme_uri is missing})
  end

  # Tests the functions that simpkv added to the contract. A plugin may lack the methods that these functions call.
  describe 'in optional methods' do
    def call(function, *arguments)
      world.call("simpkv::#{function}", *arguments, options.merge('errors' => 'return'))
    end

    {
      ['get_or_create', 'a', 1, {}] => { 'fetch' => %w[true 5 [] nil], 'put_new' => %w[nil :yes] },
      ['compare_and_put', 'a', 1, 2, {}] => { 'fetch_latest' => %w[true nil] },
      ['get_many', ['a']] => { 'get_many' => %w[nil [] :a] },
      ['put_many', { 'a' => { 'value' => 1 } }] => { 'put_many' => %w[nil true] },
      %w[tree a] => { 'tree' => ['nil', '{ keys: [], folders: [] }', '{ keys: { a: "{}" }, folders: [] }',
                                 '{ keys: {}, folders: [""] }', '{ keys: {}, folders: ["a//b"] }',
                                 '{ keys: { "/a" => "{}" }, folders: [] }', '{ keys: {}, folders: ["a/"] }',
                                 '{ keys: {}, folders: [], errors: nil }',
                                 '{ keys: {}, folders: [], errors: ["a"] }',
                                 '{ keys: {}, folders: [], errors: { "a" => nil } }',
                                 '{ keys: {}, folders: [], errors: { 1 => "a" } }'],
                      # These results caused an endless loop or a NoMethodError.
                      'list' => ['{ keys: {}, folders: [""] }', '{ keys: {}, folders: ["b/c"] }',
                                 '{ keys: { "b/c" => "{}" }, folders: [] }',
                                 '{ keys: {}, folders: [], errors: nil }'] },
      %w[list a] => { 'list' => ['{ keys: { "" => "{}" }, folders: [] }'] }
    }.each do |(function, *arguments), wrong|
      wrong.each do |method, answers|
        answers.each do |answer|
          it "include #{answer} as the answer of #{method} to #{function}" do
            plugin({ 'fetch' => '{ result: false, err_msg: nil }' }
                     .merge(method => "{ result: #{answer}, err_msg: nil }"))
            expect { call(function, *arguments) }
              .to raise_error(RuntimeError, %r{simpkv acme/x Error: #{method} returned no result and no reason})
          end
        end
      end
    end

    %w[list tree].each do |function|
      ['nil', 'true', '{ keys: [], folders: [] }', '{ keys: {}, folders: [""] }'].each do |answer|
        it "include #{answer} as the answer of #{function}_present" do
          plugin("#{function}_present" => "{ result: #{answer}, err_msg: nil }", 'tree' => 'raise "unused"')
          expect { world.call("simpkv::#{function}", 'a', options.merge('missing' => 'empty')) }
            .to raise_error(RuntimeError, %r{simpkv acme/x Error: #{function}_present returned no result and no reason})
        end
      end

      it "are not taken for a missing folder of #{function}" do
        plugin('list' => 'raise "Key folder \'a\' not found"', 'exists' => 'raise "no server"')
        expect { world.call("simpkv::#{function}", 'a', options.merge('missing' => 'empty')) }
          .to raise_error(RuntimeError, %r{simpkv acme/x Error: Key folder 'a' not found})
      end
    end

    it 'are not taken for a missing key' do
      ['{ result: nil, err_msg: "Key not found" }', 'raise "Key not found"'].each do |body|
        plugin('exists' => '{ result: true, err_msg: nil }', 'get' => body, 'fetch' => body)
        world.fresh_environment
        expect { world.call('simpkv::get', 'a', options.merge('default' => 1)) }
          .to raise_error(RuntimeError, "simpkv Error for simpkv::get with key='a': simpkv acme/x Error: Key not found")
        expect(world.call('simpkv::get', 'a', options.merge('default' => 1, 'softfail' => true))).to be_nil
      end
    end

    it 'concern the keys that the answer omits, or whose result is invalid' do
      plugin('get_many' => '{ result: { "environments/production/a" => true }, err_msg: nil }')
      expect(call('get_many', %w[a b])['errors']).to match('a' => /neither a document/, 'b' => /says nothing/)
      plugin('exists' => '{ result: false, err_msg: nil }',
             'put_many' => '{ result: { "environments/production/a" => false }, err_msg: nil }')
      world.fresh_environment
      expect(call('put_many', 'a' => { 'value' => 1 }, 'b' => { 'value' => 1 })['errors'])
        .to match('a' => /neither true/, 'b' => /says nothing/)
    end

    it 'have a text even without a reason (the message was empty)' do
      plugin('get_many' => '{ result: { arguments[0].first => {} }, err_msg: nil }')
      expect(call('get_many', %w[a])['errors'])
        .to eq('a' => 'simpkv acme/x Error: get_many returned neither a document nor a reason')
      plugin('exists' => '{ result: false, err_msg: nil }',
             'put_many' => '{ result: { arguments[0].keys.first => { err_msg: "" } }, err_msg: nil }')
      world.fresh_environment
      expect(call('put_many', 'a' => { 'value' => 1 })['errors'])
        .to eq('a' => 'simpkv acme/x Error: put_many returned neither true nor a reason')
    end

    ['.', '..'].each do |name|
      it "include a list with the folder #{name}" do
        plugin('list' => "{ result: { keys: {}, folders: ['#{name}'] }, err_msg: nil }")
        expect { call('tree', 'a') }.to raise_error(RuntimeError, %r{simpkv acme/x Error: .* not allowed as a name})
      end
    end

    # A tree of names reads no documents. An error was taken for an unreadable document, so that its key was listed.
    [{}, { 'values' => false }].each do |more|
      it "concern single folders of a tree, with #{more}" do
        plugin('tree' => '{ result: { keys: { "k" => %q({"value":1}) }, folders: ["f"], ' \
                         'errors: { "f" => "it is locked" } }, err_msg: nil }')
        expect { world.call('simpkv::tree', 'a/', options.merge(more)) }
          .to raise_error(RuntimeError, %r{simpkv acme/x Error: Key 'a/f': it is locked})
        found = world.call('simpkv::tree', '/', options.merge(more, 'skip_undecodable' => true))
        expect(found.transform_values(&:to_a)).to match('keys' => [['k', kind_of(Hash)]], 'folders' => ['f'])
        expect(world.warnings).to eq(["simpkv::tree leaves out key 'f': it is locked"])
      end
    end

    # The message called the name disallowed instead of giving the reason, and the entry could not be skipped.
    ['..', 'x' * 5000].each do |name|
      it "name an entry that cannot be a key: #{name[0, 3]}" do
        plugin('list_partial' => "{ result: { keys: {}, folders: [], errors: { '#{name}' => 'odd' } }, err_msg: nil }",
               'tree' => "{ result: { keys: {}, folders: [], errors: { '#{name}' => 'odd' } }, err_msg: nil }")
        expect { call('tree', 'a') }.to raise_error(RuntimeError, "simpkv Error for simpkv::tree with keydir='a': " \
                                                                  "simpkv acme/x Error: Key 'a/#{name}': odd")
        skipping = options.merge('skip_undecodable' => true)
        %w[list tree].each { |function| world.call("simpkv::#{function}", 'a', skipping) }
        expect(world.warnings).to eq(%w[list tree].map { |each| "simpkv::#{each} leaves out key 'a/#{name}': odd" })
      end
    end

    it 'concern each key if the plugin has no method for many' do
      plugin('exists' => 'raise "a is locked" if arguments[0].end_with?("a"); { result: false, err_msg: nil }',
             'put' => 'raise "full" if arguments[0].end_with?("b"); { result: true, err_msg: nil }')
      expect(call('get_many', %w[a b])).to eq('keys' => {}, 'absent' => ['b'],
                                              'errors' => { 'a' => 'simpkv acme/x Error: a is locked' })
      # An encrypted document may be there.
      expect(call('put_many', %w[a b c].to_h { |key| [key, { 'value' => 1 }] }))
        .to eq('stored' => ['c'], 'errors' => { 'a' => 'simpkv acme/x Error: a is locked',
                                                'b' => 'simpkv acme/x Error: full' })
    end
  end

  describe 'because of other writers' do
    it 'make get_or_create try again if another writer has stored the key and deleted it' do
      plugin('put_new' => '{ result: (@tries = @tries.to_i + 1) > 2, err_msg: nil }',
             'fetch' => '{ result: false, err_msg: nil }')
      expect(world.call('simpkv::get_or_create', 'a', 'mine', {}, options)).to eq('value' => 'mine')
    end

    it "make get_or_create read the other writer's value from the server for writes" do
      plugin('put_new' => '{ result: false, err_msg: nil }', 'fetch' => '{ result: false, err_msg: nil }',
             'fetch_latest' => '{ result: %q({"value":"theirs"}), err_msg: nil }')
      expect(world.call('simpkv::get_or_create', 'a', 'mine', {}, options)).to eq('value' => 'theirs')
    end

    it 'let get_or_create return the stored value if the outcome of its write is unknown' do
      plugin('fetch' => '{ result: false, err_msg: nil }', 'put_new' => 'raise "the outcome is unknown"',
             'fetch_latest' => %q({ result: '{"value":"theirs"}', err_msg: nil }))
      expect(world.call('simpkv::get_or_create', 'a', 'mine', {}, options)).to eq('value' => 'theirs')
    end

    it 'make get_or_create fail if nothing is stored' do
      plugin('fetch' => '{ result: false, err_msg: nil }', 'put_new' => 'raise "the outcome is unknown"')
      expect { world.call('simpkv::get_or_create', 'a', 'mine', {}, options) }
        .to raise_error(RuntimeError, %r{simpkv acme/x Error: the outcome is unknown})
    end

    it 'never make get_or_create return an expired value, if the outcome of its write is unknown' do
      expired = '{ result: %q({"value":"old","expires":"2020-01-01T00:00:00Z"}), err_msg: nil }'
      plugin('fetch' => expired, 'put_new' => '{ result: false, err_msg: nil }',
             'exchange' => 'raise "the outcome is unknown"')
      expect { world.call('simpkv::get_or_create', 'a', 'mine', {}, options) }
        .to raise_error(RuntimeError, %r{simpkv acme/x Error: the outcome is unknown})
    end

    it 'make get_or_create return what replaced an expired value, if the outcome of its write is unknown' do
      plugin('fetch' => '{ result: %q({"value":"old","expires":"2020-01-01T00:00:00Z"}), err_msg: nil }',
             'fetch_latest' => '{ result: @written || %q({"value":"old","expires":"2020-01-01T00:00:00Z"}), ' \
                               'err_msg: nil }',
             'put_new' => '{ result: false, err_msg: nil }',
             'exchange' => '@written = arguments[2]; raise "the outcome is unknown"')
      expect(world.call('simpkv::get_or_create', 'a', 'mine', {}, options)).to eq('value' => 'mine')
    end

    it 'make compare_and_put try again if another writer has changed the metadata' do
      plugin('fetch' => '{ result: JSON.generate(value: 1, metadata: { m: @tries = @tries.to_i + 1 }), err_msg: nil }',
             'exchange' => '{ result: arguments[1].include?(%q("m":3)), err_msg: nil }')
      expect(world.call('simpkv::compare_and_put', 'a', 1, 2, {}, options)).to be(true)
    end

    it 'end compare_and_put and get_or_create after 100 attempts' do
      plugin('fetch' => "{ result: '{\"value\":1}', err_msg: nil }", 'exchange' => '{ result: false, err_msg: nil }')
      expect { world.call('simpkv::compare_and_put', 'a', 1, 2, {}, options) }
        .to raise_error(RuntimeError, %r{simpkv acme/x Error: others keep changing it})
    end

    it 'omit a folder that is deleted while a tree is listed' do
      plugin('list' => <<-RUBY, 'exists' => '{ result: arguments[0].end_with?("d/x"), err_msg: nil }')
        case arguments[0].delete_prefix('environments/production/')
        when 'd' then { result: { keys: { 'k' => '{"value":1}' }, folders: %w[gone x] }, err_msg: nil }
        when 'd/x' then { result: { keys: { 'l' => '{"value":2}' }, folders: [] }, err_msg: nil }
        else { result: nil, err_msg: 'no such folder' }
        end
      RUBY
      expect(world.call('simpkv::tree', 'd', options))
        .to eq('keys' => { 'k' => { 'value' => 1 }, 'x/l' => { 'value' => 2 } }, 'folders' => %w[gone x])
      expect { world.call('simpkv::tree', 'd/none', options) }.to raise_error(RuntimeError, /no such folder/)
    end

    it 'do not remove unreadable keys from a tree of names' do
      plugin('list' => '{ result: nil, err_msg: "k2 is locked" }', 'list_partial' => <<-RUBY)
        { result: { keys: { 'k1' => '{"value":1}' }, folders: [], errors: { 'k2' => 'it is locked' } }, err_msg: nil }
      RUBY
      expect(world.call('simpkv::tree', 'd', options.merge('values' => false)))
        .to eq('keys' => { 'k1' => {}, 'k2' => {} }, 'folders' => [])
    end
  end
end
