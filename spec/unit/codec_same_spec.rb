# frozen_string_literal: true

RSpec.describe 'Comparing documents' do
  Cases.read('documents.tsv').each do |first, second, verdict|
    it "finds #{first.inspect} and #{second.inspect} #{verdict == 'same' ? 'equal' : 'different'}" do
      expect(Simpkv::Native.document_same?(first, second)).to be(verdict == 'same')
      expect(Simpkv::Native.document_same?(second, first)).to be(verdict == 'same')
    end
  end
end
