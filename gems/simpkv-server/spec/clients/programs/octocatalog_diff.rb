# frozen_string_literal: true

require 'json'
require 'logger'
require 'octocatalog-diff'

options = { node: 'web1', backend: :puppetdb, puppetdb_url: ENV.fetch('HTTPS'), puppetdb_ssl_ca: ENV.fetch('CA'),
            puppetdb_ssl_client_cert: File.read(ENV.fetch('CERT')),
            puppetdb_ssl_client_key: File.read(ENV.fetch('KEY')) }
catalog = OctocatalogDiff::Catalog.create(options)
catalog.build(Logger.new(File::NULL))
facts = OctocatalogDiff::Facts.new(puppetdb_package_inventory: true, **options).facts['values']
puts JSON.generate('resources' => catalog.resources.map { |each| each.values_at('type', 'title') },
                   'kernel' => facts['kernel'], 'packages' => facts.dig('_puppet_inventory_1', 'packages'))
