# frozen_string_literal: true

# A forgotten value used to leave documents unencrypted, connections without TLS, and operations without a log. They
# take the name of a table, its options, those that protect something, those that are required, and what reads them.
RSpec.shared_examples 'options without a value' do |table, options, protecting, required, reader|
  protecting.each do |name|
    it "refuses #{name} of #{table}, which protects something" do
      expect { reader.call(name => nil) }.to raise_error(Simpkv::ConfigError, /\A'#{name}' .* has no value: set it/)
    end
  end

  it "takes it for absent if it protects nothing, of #{table}" do
    expect(options.map(&:name)).to include(*protecting, *required)
    (options.map(&:name) - protecting - required).each { |name| expect { reader.call(name => nil) }.not_to raise_error }
  end
end
