# frozen_string_literal: true

require 'json'
gem 'puppetdb-ruby' # Another gem, which puppetdb_cli uses, has the same files.
require 'puppetdb'
require 'time'

client = PuppetDB::Client.new({ server: ENV.fetch('HTTP') })
facts = { 'certname' => 'sent', 'environment' => 'production', 'producer_timestamp' => Time.now.utc.iso8601(3),
          'producer' => nil, 'values' => { 'kernel' => 'Linux' } }
refused = begin
  client.request('nodes', %w[= colour red])
rescue PuppetDB::APIError => e
  e.response.body
end
puts JSON.generate('command' => client.command('replace facts', facts, 5).data,
                   'nodes' => client.request('nodes', %w[~ certname ^web]).data.map { |row| row['certname'] },
                   'page' => client.request('nodes', %w[~ certname ^web], { limit: 1 }).data.length,
                   'refused' => refused)
