# frozen_string_literal: true

RSpec.describe 'Keys' do
  native = Simpkv::Native

  Cases.read('keys.tsv').each do |key, flags, status, message|
    upper = flags == '1'
    name = "#{key.inspect}#{' with upper case' if upper}"

    if status == 'ok'
      it "may be #{name}" do
        expect(native.key_check(key, upper)).to be_nil
      end
    else
      it "may not be #{name}" do
        expect { native.key_check(key, upper) }.to raise_error(Simpkv::Error.for(status), /#{Regexp.escape(message)}/)
      end
    end
  end

  Cases.read('joins.tsv').each do |prefix, key, status, result|
    if status == 'ok'
      it "are joined: #{prefix.inspect} and #{key.inspect} make #{result.inspect}" do
        joined = native.key_join(prefix, key)
        expect(joined).to eq(result)
        expect(joined.encoding).to eq(Encoding::UTF_8)
      end
    else
      it "cannot be joined: #{prefix.inspect} and #{key.inspect}" do
        expect { native.key_join(prefix, key) }
          .to raise_error(Simpkv::Error.for(status), /#{Regexp.escape(result)}/)
      end
    end
  end

  it 'may have names of 255 bytes, and not of 256' do
    expect(native.key_check("a/#{'k' * 255}/b", false)).to be_nil
    expect { native.key_check("a/#{'k' * 256}/b", false) }
      .to raise_error(Simpkv::TooLargeError, /256 bytes: a name between two slashes may have 255/)
  end

  it 'may have 4,096 bytes with their prefix, and not 4,097' do
    key = (['k' * 99] * 41).join('/')[0, 4096 - 'globals/'.length]
    expect(native.key_join('globals', key).bytesize).to eq(4096)
    expect { native.key_join('globals', "#{key}k") }.to raise_error(Simpkv::TooLargeError, /more than 4096 bytes/)
    expect { native.key_check("#{key}kkkkkkkkk", false) }.to raise_error(Simpkv::TooLargeError, /has 4097 bytes/)
  end

  it 'are quoted in messages without control characters, and only their start' do
    expect { native.key_check("a\n#{'b' * 1000}", false) }.to raise_error do |error|
      expect(error.message).to start_with("key 'a?bbb").and end_with("bbb...' contains disallowed whitespace")
      expect(error.message.length).to be < 600
    end
  end

  it 'must be Strings' do
    [nil, 1, :key].each { |key| expect { native.key_check(key, false) }.to raise_error(TypeError) }
  end
end
