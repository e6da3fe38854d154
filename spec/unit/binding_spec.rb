# frozen_string_literal: true

require 'open3'
require 'simpkv/native/header'
require_relative '../support/another_ruby'
require_relative '../support/scratch'

RSpec.describe Simpkv::Native do
  header = Simpkv::Native::Header.read

  # Runs a script in its own process.
  def ruby(script, environment = {})
    Open3.capture2e(environment, *AnotherRuby.command('-e', script))
  end

  it 'is the requested binding' do
    default = RUBY_ENGINE == 'jruby' ? 'ffi' : 'cext'
    expect(described_class.binding_name).to eq(ENV.fetch('SIMPKV_NATIVE', default))
  end

  # Functions take the constant Store for a sign that the library can be used. In a JRuby with many threads, they used
  # it while another thread was loading the binding.
  it 'is loaded before any constant of the library can be found' do
    script = <<~RUBY
      module Watch
        def require(name)
          super.tap { puts defined?(Simpkv::Store).inspect if name == 'simpkv/native' }
        end
      end
      Object.prepend(Watch)
      require 'simpkv'
      puts defined?(Simpkv::Store)
    RUBY
    expect(ruby(script).first.lines.map(&:chomp)).to start_with('nil').and end_with('constant')
  end

  it 'has the version and the interface of the library' do
    expect(described_class.version).to eq(Simpkv::VERSION)
    expect(described_class.abi).to eq(header.constant('SKV_ABI'))
  end

  it 'raises a separate exception class for each status of the core' do
    names = (0..header.statuses.length).map { |number| described_class.status_name(number) }
    expect(names).to eq([*header.statuses, nil])
    failures = header.statuses.drop(2)
    expect(failures.map { |name| Simpkv::Error.for(name).status.to_s }).to eq(failures)
    expect(failures.map { |name| Simpkv::Error.for(name) }.uniq.length).to eq(failures.length)
  end

  native = Simpkv::Native
  folder = nil
  before(:context) { folder = Scratch.make('simpkv-binding') }
  after(:context) { FileUtils.remove_entry(folder) }
  open_store = -> { native::Store.new('file', 'root_path' => folder) }
  no_string = 'no implicit conversion of %s into String'

  # Both bindings refuse invalid arguments with the same messages.
  {
    'nil for a key' => [-> { native.key_check(nil, false) }, TypeError, format(no_string, 'nil')],
    'true for a key' => [-> { native.key_join('a', true) }, TypeError, format(no_string, 'true')],
    'a number for text' => [-> { native.key_join('a', 5) }, TypeError, format(no_string, 'Integer')],
    'an object without methods' =>
      [-> { native.document_same?(BasicObject.new, '1') }, TypeError, format(no_string, 'BasicObject')],
    'another layout' =>
      [-> { native.dn_from_path('plain', :key, 'dc=x', 'i', 'x') }, ArgumentError, 'layout is :plain or :hex'],
    'another kind' =>
      [-> { native.dn_from_path(:hex, 5, 'dc=x', 'i', 'a') }, ArgumentError, 'kind is :key or :folder'],
    'no options' => [-> { native::Store.new('file', nil) }, TypeError, 'wrong argument type nil (expected Hash)'],
    'an option in UTF-16' => [-> { native::Store.new('file', 'root_path' => '/x'.encode('UTF-16LE')) },
                              Simpkv::InvalidError, 'an option holds a NUL byte'],
    'attributes that are no list' =>
      [-> { open_store.call.read_entry('', 'cn', 1) }, TypeError, 'wrong argument type String (expected Array)'],
    'attributes without values' =>
      [-> { open_store.call.add_entry('', ['cn'], 1) }, TypeError, 'wrong argument type Array (expected Hash)'],
    'a value that is no list' =>
      [-> { open_store.call.add_entry('', { 'cn' => 'a' }, 1) }, TypeError,
       'wrong argument type String (expected Array)'],
    'a value that is no text' =>
      [-> { open_store.call.add_entry('', { 'cn' => [5] }, 1) }, TypeError, format(no_string, 'Integer')],
    'a value with a NUL byte' => [-> { open_store.call.add_entry('', { 'cn' => ["a\0b"] }, 1) }, Simpkv::InvalidError,
                                  'an attribute holds a NUL byte'],
    'entries of files' => [-> { open_store.call.read_entry('', [], 1) }, Simpkv::InvalidError,
                           "only a store of type 'ldap' has entries"],
    'a copy of a store' =>
      [-> { open_store.call.dup.get('globals/a', 0, 1) }, Simpkv::InvalidError, 'the store is closed'],
    'a store that was closed, though frozen' =>
      [-> { open_store.call.freeze.tap(&:close).get('globals/a', 0, 1) }, Simpkv::InvalidError,
       'the store is closed'],
    'to open a store twice' => [-> { open_store.call.__send__(:initialize, 'file', 'root_path' => folder) },
                                Simpkv::InvalidError, 'the store is open already']
  }.each do |what, (call, error, message)|
    it "refuses #{what}" do
      expect(&call).to raise_error(error, message)
    end
  end

  it 'refuses a SIMPKV_NATIVE that names no binding' do
    output, status = ruby('require "simpkv"', 'SIMPKV_NATIVE' => 'other')
    expect(status).not_to be_success
    expect(output).to match(/SIMPKV_NATIVE=other: expected (cext or )?ffi, or nothing/)
  end

  it 'refuses a second binding in one process' do
    other = described_class.binding_name == 'ffi' ? 'cext' : 'ffi'
    expect { load File.expand_path("../../lib/simpkv/native/#{other}.rb", __dir__) }
      .to raise_error(LoadError, /this process uses simpkv's #{described_class.binding_name} binding already/)
  end

  it 'says what to do when SIMPKV_LIBRARY names no library', :ffi do
    output, status = ruby('require "simpkv"', 'SIMPKV_NATIVE' => 'ffi', 'SIMPKV_LIBRARY' => '/nonexistent.so')
    expect(status).not_to be_success
    expect(output).to include("simpkv's native library does not load").and include('SIMPKV_LIBRARY')
  end

  it 'formats numbers as MRI does' do
    {
      9.898 => '9.898', 0.0001 => '0.0001', 1.0e-05 => '1.0e-05', 1.0e14 => '100000000000000.0', 1.0e15 => '1.0e+15',
      1.0e20 => '1.0e+20', 5.0e-324 => '5.0e-324', -0.0 => '-0.0', 1.0 => '1.0', Float::MAX => '1.7976931348623157e+308'
    }.each { |number, text| expect(described_class.format_double(number)).to eq(text) }
    [Float::NAN, Float::INFINITY, -Float::INFINITY].each do |number|
      expect(described_class.format_double(number)).to be_nil
    end
  end
end
