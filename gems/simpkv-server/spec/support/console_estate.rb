# frozen_string_literal: true

require 'time'

# Nodes in the store of a service, for specs of the console: beside the context `with a service`.
module ConsoleEstate
  # What somebody could store to have it run in the browser of another person.
  MARKUP = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>'].freeze

  # @return [Simpkv::Estate]
  def estate
    @estate ||= Simpkv::Estate.new(options).tap(&:make)
  end

  # Saves a run of a node.
  #
  # @param certname [String]
  # @param facts [Hash{String => Object}]
  # @param exports [Hash{String => Array<Hash>}] resources by type, in lower case
  def save(certname, facts, exports = {})
    estate.facts.save(certname, facts)
    estate.exports.save(certname, exports, 'production')
    estate.statuses.put(certname, 'last_seen' => Time.now.utc.iso8601, 'environment' => 'production',
                                  'status' => 'changed', 'changes' => 1, 'failures' => 0)
  end

  # @return [Hash] a resource for {#save}
  def resource(title, parameters = {}, more = {})
    { 'title' => title, 'parameters' => parameters, 'tags' => [] }.merge(more)
  end

  # @param response [ServiceClient::Response]
  # @return [Array<Array<String>>] the texts of the cells of all rows of tables
  def cells(response)
    rows = response.body.force_encoding(Encoding::UTF_8).scan(%r{<tr>.*?</tr>}m)
    rows.map do |row|
      row.scan(%r{<t[hd][^>]*>(.*?)</t[hd]>}m).map do |(html)|
        CGI.unescapeHTML(html.gsub(/<[^>]*>/, ' ')).gsub(/\s+/, ' ').strip
      end
    end
  end

  # @return [RSpec::Matchers::BuiltIn::BaseMatcher] a page in which nothing of {MARKUP} is an element
  def harmless
    satisfy('have no element of somebody else') do |response|
      html = response.body
      !html.match?(%r{<script(?! src="/console/)|<img}i) && !html.gsub(/"[^"]*"/, '').match?(/<[^>]*\son\w+=/i)
    end
  end
end
