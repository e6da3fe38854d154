# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/query/engine'
require 'simpkv/query/route'
require_relative '../support/puppetdb'
require_relative '../support/query_comparison'
require_relative '../support/query_tables'

# The queries of the files in spec/puppetdb/queries, asked of a PuppetDB and of an index with the same nodes.
RSpec.describe Simpkv::Query::Engine, 'and a PuppetDB' do
  before(:context) do
    @puppetdb = PuppetDB.new
    @puppetdb.start
    QueryEstate.submit(@puppetdb.client)
    @comparison = QueryComparison.new(@puppetdb.client)
  end

  after(:context) { @puppetdb.stop }

  page = File.read(File.expand_path('../../../../docs/from-puppetdb.md', __dir__))

  Dir[File.expand_path('queries/*.txt', __dir__)].sort.each do |file|
    questions = QueryComparison.questions(file)

    it "answer the same to the #{questions.length} queries of #{File.basename(file)}" do
      different = questions.reject(&:difference).map { |question| @comparison.report(question) }

      expect(different.compact).to eq([])
      expect(questions.length).to be > 20
    end

    it "still differ in what docs/from-puppetdb.md accepts, for the queries of #{File.basename(file)}" do
      questions.select(&:difference).each do |question|
        expect(page).to include("| #{question.difference} |")
        expect(@comparison.report(question)).to be_a(String), "#{question.text} does not differ any more"
      end
    end
  end
end
