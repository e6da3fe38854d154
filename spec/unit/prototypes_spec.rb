# frozen_string_literal: true

require 'ffi'
require_relative '../support/header'
require 'simpkv/native/library'

# The prototypes are one file for both Rubies; FFI on JRuby 9.3 does not tell what was attached.
RSpec.describe Simpkv::Native::Library, needs: :mri do
  # How a type of simpkv.h is spelled in FFI.
  def ffi_type(type)
    case type
    when 'const char *' then :buffer_in
    when /\*\z/ then :pointer
    when 'int64_t' then :int64
    else type.to_sym
    end
  end

  # A char pointer that is no argument is a NUL-terminated string, but for the reply's data.
  def result_type(name, type)
    type == 'const char *' && name != 'skv_reply_data' ? :string : ffi_type(type.sub('char *', 'void *'))
  end

  # Bindings need no cancel handle where an interrupt waits for the end of the call: DESIGN, rule 8.
  declared = Header.functions.reject { |name, _| name.start_with?('skv_cancel_') }

  it 'attaches each function of simpkv.h, with its types' do
    attached = described_class.attached_functions.transform_keys(&:to_s)
    expect(attached.keys).to match_array(declared.keys)
    declared.each do |name, (result, parameters)|
      wanted = [result_type(name, result), parameters.map { |type| ffi_type(type) }]
      type = attached[name].send(:type)
      expect([type.return_type, type.param_types])
        .to eq([FFI.find_type(wanted[0]), wanted[1].map { |parameter| FFI.find_type(parameter) }]), name
    end
  end

  it 'knows the numbers of simpkv.h' do
    expect(described_class::ABI).to eq(Header.constant('SKV_ABI'))
    expect(described_class::DOUBLE_MAX).to eq(Header.constant('SKV_DOUBLE_MAX'))
    expect(Header.statuses[described_class::END_OF_LIST]).to eq('end')
  end
end
