# frozen_string_literal: true

require 'simpkv/native/json_writer'
require_relative '../support/c_locale'

# The JVM sets LC_NUMERIC to what the environment says: numbers must not follow.
RSpec.describe 'Documents under a locale' do
  after { CLocale.set('C') }

  floats = [0.5, -1.5, 9.898, 1e-5, 1.25e+30, 0.1 + 0.2, 5e-324]
  document = '{"value":[0.5,-1.5,9.898,1.0e-05,1.25e+30,0.30000000000000004,5.0e-324],"metadata":{}}'

  # jansson aborted the process where the decimal point has two bytes.
  { 'C' => '.', 'de_DE.UTF-8' => ',', 'ps_AF.UTF-8' => '٫' }.each do |locale, point|
    it "are the same under #{locale}, where a decimal point is #{point.inspect}" do
      CLocale.set(locale)
      expect(CLocale.read_number("1#{point}5")).to eq(1.5)
      expect(Simpkv::Codec.encode(floats)).to eq(document)
      expect(Simpkv::JsonWriter.generate('value' => floats, 'metadata' => {})).to eq(document)
      expect(Simpkv::Codec.decode(document)[:value]).to eq(floats)
      expect(Simpkv::Native.document_same?('{"value":1.5}', '{"value":15e-1}')).to be(true)
      expect(Simpkv::Native.document_same?('{"value":1.5}', '{"value":1.25}')).to be(false)
    end
  end
end
