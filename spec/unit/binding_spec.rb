# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require_relative '../support/header'

RSpec.describe Simpkv::Native do
  # Runs Ruby in a process of its own, with the library on its path.
  def ruby(script, environment = {})
    lib = File.expand_path('../../lib', __dir__)
    Open3.capture2e(environment, RbConfig.ruby, '-I', lib, '-e', script)
  end

  it 'is the binding that was asked for' do
    default = RUBY_ENGINE == 'jruby' ? 'ffi' : 'cext'
    expect(described_class.binding_name).to eq(ENV.fetch('SIMPKV_NATIVE', default))
  end

  it 'has the version and the interface of the library' do
    expect(described_class.version).to eq(Simpkv::VERSION)
    expect(described_class.abi).to eq(Header.constant('SKV_ABI'))
  end

  it 'raises an exception of its own for each status of the core' do
    names = (0..Header.statuses.length).map { |number| described_class.status_name(number) }
    expect(names).to eq([*Header.statuses, nil])
    failures = Header.statuses.drop(2)
    expect(failures.map { |name| Simpkv::Error.for(name).status.to_s }).to eq(failures)
    expect(failures.map { |name| Simpkv::Error.for(name) }.uniq.length).to eq(failures.length)
  end

  it 'refuses a name in SIMPKV_NATIVE that is no binding' do
    output, status = ruby('require "simpkv"', 'SIMPKV_NATIVE' => 'other')
    expect(status).not_to be_success
    expect(output).to match(/SIMPKV_NATIVE=other: expected (cext or )?ffi, or nothing/)
  end

  it 'refuses a second binding in one process' do
    other = described_class.binding_name == 'ffi' ? 'cext' : 'ffi'
    expect { load File.expand_path("../../lib/simpkv/native/#{other}.rb", __dir__) }
      .to raise_error(LoadError, /this process uses simpkv's #{described_class.binding_name} binding already/)
  end

  it 'says what to do when SIMPKV_LIBRARY names no library' do
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
