# frozen_string_literal: true

require_relative '../support/rspec_puppet'

# Other modules depend on exactly these signatures.
{
  'simpkv::put' => 'Callable[String[1], NotUndef, Hash, Hash, 2, 4]',
  'simpkv::get' => 'Callable[String[1], Hash, 1, 2]',
  'simpkv::value' => 'Callable[String[1], Hash, 1, 2]',
  'simpkv::list' => 'Callable[String[1], Hash, 1, 2]',
  'simpkv::exists' => 'Callable[String[1], Hash, 1, 2]',
  'simpkv::delete' => 'Callable[String[1], Hash, 1, 2]',
  'simpkv::deletetree' => 'Callable[String[1], Hash, 1, 2]'
}.each do |name, signature|
  RSpec.describe name, type: :puppet_function do
    it "has the signature #{signature}" do
      types = subject.func.class.dispatcher.dispatchers.map(&:type)
      expect(types.map { |type| parameters(type) }).to eq([signature])
    end

    # Returns the types of the public parameters, without the return type and the internal parameters.
    def parameters(type)
      Puppet::Pops::Types::PCallableType.new(type.param_types).to_s
    end
  end
end

RSpec.describe 'simpkv::put', type: :puppet_function do
  {
    'value' => ['k', nil, {}, {}], 'key' => ['', 'v'], 'metadata' => %w[k v metadata],
    'options' => ['k', 'v', {}, 'options']
  }.each do |name, arguments|
    it "refuses arguments of another type, and names the parameter #{name}" do
      is_expected.to run.with_params(*arguments).and_raise_error(ArgumentError, /#{name}/)
    end
  end
end
