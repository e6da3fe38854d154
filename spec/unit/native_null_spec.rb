# frozen_string_literal: true

require 'simpkv/native/header'

RSpec.describe 'A call of the core', needs: :ffi do
  let(:library) { Simpkv::Native::Library }

  # The functions that fill a reply, as the headers declare them.
  replying = Simpkv::Native::Header.read.functions.select { |_, function| function.replies }.keys.grep_v(/\Askv_reply_/)

  # Calls a function with 0 and NULL for its arguments, except for the reply, which is the last one.
  def result_of(name, reply)
    function = Simpkv::Native::Library::HEADER.functions.fetch(name)
    zeros = function.parameters[0...-1].map { |type| type.to_s.match?(/pointer|buffer/) ? nil : 0 }
    result = library.public_send(name, *zeros, reply)
    function.result == :pointer && result.null? ? library::HEADER.constant('SKV_INVALID') : result
  end

  it 'takes a reply, in functions of each header' do
    expect(replying).to include('skv_get', 'skv_document_same', 'skv_keyring_kids', 'skv_audit_write')
    expect(replying.length).to be > 35
  end

  # Half of them ended the process.
  replying.each do |name|
    it "is refused without a reply: #{name}()" do
      expect(result_of(name, nil)).to eq(library::HEADER.constant('SKV_INVALID'))
    end
  end

  # The first two have no arguments, and the others take an empty document.
  (replying - %w[skv_stats skv_options skv_document_same skv_document_kid]).each do |name|
    it "is refused without its other arguments: #{name}()" do
      reply = library.skv_reply_new
      expect(result_of(name, reply)).to eq(library::HEADER.constant('SKV_INVALID'))
      expect(library.skv_reply_status(reply)).to eq(library::HEADER.constant('SKV_INVALID'))
      expect(library.skv_reply_message(reply)).to match(/\w/)
    ensure
      library.skv_reply_free(reply)
    end
  end
end
