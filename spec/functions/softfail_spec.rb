# frozen_string_literal: true

require_relative '../puppet_helper'

# Each function with each class of failure: whether softfail applies, and the result.
RSpec.describe 'softfail' do
  let!(:world) { PuppetWorld.new }
  let(:loader) { File.join(world.dir, 'modules', 'simpkv', 'lib', 'puppet_x', 'simpkv', 'loader.rb') }

  after { world.close }

  # The arguments between key and options, what the message names the key, and what is returned instead of a failure.
  functions = {
    'put' => [['v', {}], 'key', false], 'get' => [[], 'key', nil], 'list' => [[], 'keydir', nil],
    'exists' => [[], 'key', nil], 'delete' => [[], 'key', false], 'deletetree' => [[], 'keydir', false],
    'get_or_create' => [['v', {}], 'key', nil], 'compare_and_put' => [['v', 'w', {}], 'key', false],
    'secret' => [[], 'key', nil], 'tree' => [[], 'keydir', nil], 'value' => [[], 'key', nil]
  }

  # A plugin whose operations all have this body.
  def plugin(body, configure: '{ result: true, err_msg: nil }')
    world.add_plugin('alpha', 'acme', <<-RUBY)
      plugin_class = Class.new do
        attr_reader :name
        def initialize(name)
          @name = name
        end
        def configure(options)
          #{configure}
        end
        %w[delete deletetree exists get list put].each do |operation|
          define_method(operation) do |*arguments|
            #{body}
          end
        end
      end
    RUBY
  end

  def options(more)
    { 'backends' => { 'default' => { 'type' => 'acme', 'id' => 'x' } } }.merge(more)
  end

  define_method(:call) do |function, key, more|
    world.call("simpkv::#{function}", key, *functions[function].first, options(more))
  end

  # Fails without softfail; with it warns in the same words.
  define_method(:expect_softened) do |function, message|
    expect { call(function, 'a/k', {}) }.to raise_error(RuntimeError, message)
    expect(call(function, 'a/k', 'softfail' => true)).to be(functions[function].last)
    expect(world.warnings).to eq([message])
  end

  def expect_hard(function, error, message, key: 'a/k', more: {})
    [false, true].each do |soft|
      expect { call(function, key, more.merge('softfail' => soft)) }.to raise_error(error, message)
    end
    expect(world.warnings).to eq([])
  end

  functions.each do |function, (_, name, softened)|
    describe "of simpkv::#{function}" do
      let(:prefix) { "simpkv Error for simpkv::#{function} with #{name}='a/k': " }

      it "turns an error of the backend into a warning and #{softened.inspect}" do
        plugin('{ result: nil, err_msg: "no luck" }')
        expect_softened(function, "#{prefix}simpkv acme/x Error: no luck")
      end

      it "turns an exception of the backend into a warning and #{softened.inspect}" do
        plugin('raise "no luck"')
        expect_softened(function, "#{prefix}simpkv acme/x Error: no luck")
      end

      it "turns a failure of configure into a warning and #{softened.inspect}" do
        plugin('raise "not reached"', configure: '{ result: false, err_msg: "no server" }')
        expect_softened(function, "#{prefix}simpkv Error: Unable to construct 'acme/x': no server")
      end

      it 'has no effect on an invalid configuration' do
        plugin('raise "not reached"')
        message = %r{\Asimpkv Configuration Error for simpkv::#{function} with #{name}='a/k': }
        expect_hard(function, ArgumentError, message, more: { 'backend' => 'nosuch' })
      end

      it 'has no effect on an invalid key, which is reported before any other error' do
        plugin('raise "not reached"', configure: 'raise "not reached"')
        hide(loader)
        expect_hard(function, ArgumentError, %r{\A(?!simpkv Conf).*key 'a/../k' contains disallowed '/\./' or '/\.\./'},
                    key: 'a/../k', more: { 'backend' => 'nosuch' })
      end

      it 'has no effect on a module that cannot be loaded, which is reported before an invalid configuration' do
        hide(loader)
        expect_hard(function, LoadError, "simpkv Internal Error: unable to load #{loader}: File not found",
                    more: { 'backend' => 'nosuch' })
      end
    end
  end

  many = %w[a b c d e]
  of_many = { 'get_many' => many, 'put_many' => many.to_h { |key| [key, { 'value' => 1 }] } }
  of_many.each do |function, keys|
    it "turns a failure of simpkv::#{function} into a warning that names some keys, and undef" do
      plugin('raise "not reached"', configure: '{ result: false, err_msg: "no server" }')
      message = "simpkv Error for simpkv::#{function} with keys='a', 'b', 'c' and 2 more: simpkv Error: " \
                "Unable to construct 'acme/x': no server"
      expect { world.call("simpkv::#{function}", keys, options({})) }.to raise_error(RuntimeError, message)
      expect(world.call("simpkv::#{function}", keys, options('softfail' => true))).to be_nil
      expect(world.warnings).to eq([message])
    end
  end

  it 'is an option of these functions alone' do
    documented = PuppetWorld::FUNCTIONS.select { |_, file| File.read(file, encoding: 'UTF-8').include?("'softfail'") }
    expect([*functions.keys, *of_many.keys]).to match_array(documented.keys)
  end

  it 'reports an invalid configuration before a call of the backend' do
    plugin('raise "not reached"', configure: 'raise "not reached"')
    expect_hard('get', ArgumentError, /'softfail' in simpkv configuration|is not a Hash/, more: { 'backends' => 'x' })
  end

  def hide(file)
    allow(File).to receive(:exist?).and_call_original
    allow(File).to receive(:exist?).with(file).and_return(false)
  end
end
