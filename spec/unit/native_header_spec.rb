# frozen_string_literal: true

require 'simpkv/native/header'

RSpec.describe Simpkv::Native::Header do
  def read(declaration)
    described_class.new("SKV_API #{declaration}").functions
  end

  it 'reads a function: its name, its types by FFI, and whether it waits' do
    declaration = <<~DECLARATION
      skv_list *skv_list_open(skv_store *store, const char *folder, size_t folder_len,
                              int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);
    DECLARATION
    types = %i[pointer buffer_in size_t int64 pointer pointer]
    expect(read(declaration)).to eq('skv_list_open' => described_class::Function.new(:pointer, types, true, true))
  end

  it 'reads a function without parameters, and one without a result' do
    expect(read('const char *skv_version(void);'))
      .to eq('skv_version' => described_class::Function.new(:string, [], false, false))
    expect(read('void skv_close(skv_store *store);'))
      .to eq('skv_close' => described_class::Function.new(:void, [:pointer], false, false))
  end

  it 'takes data for a pointer, because a NUL does not end them' do
    function = read('const char *skv_reply_data(const skv_reply *reply);').fetch('skv_reply_data')
    expect(function.result).to be(:pointer)
  end

  it 'ignores comments' do
    header = described_class.new(<<~HEADER)
      /* Once:
      SKV_API int skv_old(void);
      #define SKV_OLD 1
      */
      SKV_API int skv_abi(void);
    HEADER
    expect(header.functions.keys).to eq(['skv_abi'])
    expect { header.constant('SKV_OLD') }.to raise_error(LoadError)
  end

  it 'reads numeric macros, and the numbers, names and comments of statuses' do
    header = described_class.new(<<~HEADER)
      #define SKV_ABI 2
      #define SKV_KEY_MAX 4096        /* bytes */
      #define SKV_STATUS_MAP(X) \\
          X(0, OK, "ok")    /* done */ \\
          X(1, END, "end")
    HEADER
    expect(%w[SKV_ABI SKV_KEY_MAX SKV_OK SKV_END].map { |name| header.constant(name) }).to eq([2, 4096, 0, 1])
    expect(header.statuses).to eq(%w[ok end])
    expect(header.meanings).to eq('ok' => 'done')
  end

  {
    'an unknown type of a parameter' => ['int skv_x(uint8_t *bytes);', 'uint8_t *'],
    'a parameter without a name' => ['int skv_x(int);', ''],
    'an unknown type of a result' => ['float skv_x(void);', 'float'],
    'a struct that is passed by value' => ['int skv_x(skv_reply reply);', 'skv_reply'],
    'a parameter that is a function' => ['void skv_x(int (*call)(void));', ''],
    'a variable' => ['int skv_count;', 'int skv_count']
  }.each do |what, (declaration, part)|
    it "refuses #{what}, and says what to do" do
      message = "simpkv.h declares '#{declaration.chomp(';')}', and the FFI binding does not know '#{part}': " \
                'add it to lib/simpkv/native/header.rb'
      expect { read(declaration) }.to raise_error(LoadError, message)
    end
  end

  it 'names a number that is missing' do
    expect { described_class.new('').constant('SKV_ABI') }
      .to raise_error(LoadError, 'simpkv.h does not define the number SKV_ABI')
  end

  it 'says how to get a header that is missing' do
    expect { described_class.read('/nonexistent/simpkv.h') }
      .to raise_error(LoadError, /gem pristine simpkv.*nonexistent/)
  end

  describe 'of this version' do
    header = described_class.read

    it 'declares functions with names that start with skv_, some of which wait' do
      waiting = header.functions.select { |_, function| function.waits }
      expect(header.functions.keys).to all(start_with('skv_'))
      expect(waiting.keys).to include('skv_open', 'skv_get', 'skv_list_next')
      expect(waiting.keys & %w[skv_close skv_key_join skv_reply_data]).to be_empty
    end

    it 'has the limits that JsonWriter has' do
      require 'simpkv/native/json_writer'
      limits = %w[SKV_DOCUMENT_DEPTH_MAX SKV_DATA_MAX].map { |name| header.constant(name) }
      expect(limits).to eq([Simpkv::JsonWriter::DEPTH_MAX, Simpkv::JsonWriter::SIZE_MAX])
    end
  end
end
