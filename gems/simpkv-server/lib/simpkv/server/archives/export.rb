# frozen_string_literal: true

require 'digest/sha1'
require 'rubygems/package'
require 'time'
require 'zlib'
require 'simpkv/server/archives/wire'
require 'simpkv/server/commands/replace_catalog'
require 'simpkv/server/commands/replace_facts'
require 'simpkv/server/commands/store_report'

module Simpkv
  module Server
    # Archives of PuppetDB: a tar.gz with a file in JSON for each command that stores what is in it.
    module Archives
      # The folder in an archive, and the first file in it.
      FOLDER = 'puppetdb-bak'
      METADATA = 'export-metadata.json'
      # The commands of an archive: their folders, and their names in the metadata.
      COMMANDS = { 'facts' => ['replace_facts', Commands::ReplaceFacts],
                   'catalogs' => ['replace_catalog', Commands::ReplaceCatalog],
                   'reports' => ['store_report', Commands::StoreReport] }.freeze

      # Writes what queries can see of all active nodes to an archive.
      class Export
        # The numbers of nodes and of reports of a question. An answer is read into memory.
        NODES = 10
        REPORTS = 5
        # What reports are sorted by: an archive has the oldest one first.
        ORDER = %w[producer_timestamp start_time transaction_uuid].freeze
        # The length of a certname in the name of a file: tar has 100 bytes for that, with a digest and an extension.
        NAME_MAX = 50
        MODE = 0o600
        private_constant :NODES, :REPORTS, :ORDER, :NAME_MAX, :MODE

        # @yieldparam question [Hash] see {Query::Workers#ask}
        # @yieldreturn [Query::Workers::Answer]
        def initialize(&ask)
          @ask = ask
        end

        # @param file [IO]
        # @return [void]
        # @raise [Simpkv::Error] a question cannot be answered: the file is worthless then
        def write(file)
          gzip = Zlib::GzipWriter.new(file)
          Gem::Package::TarWriter.new(gzip) do |tar|
            add(tar, METADATA, metadata)
            fields = ['extract', %w[certname catalog_timestamp catalog_environment]]
            by_name(rows('nodes', fields)).each_slice(NODES) { |nodes| add_nodes(tar, nodes) }
          end
        ensure
          gzip&.finish
        end

        private

        def metadata
          { 'timestamp' => Time.now.utc.iso8601(3),
            'command_versions' => COMMANDS.values.to_h { |name, type| [name, type::VERSION] } }
        end

        def add_nodes(tar, nodes)
          names = ['in', 'certname', ['array', nodes.map { |node| node['certname'] }]]
          packages = rows('package-inventory', names).group_by { |row| row['certname'] }
          by_name(rows('factsets', names)).each do |row|
            add_command(tar, 'facts', Wire.facts(row, packages.fetch(row['certname'], [])))
          end
          add_catalogs(tar, nodes, names)
          nodes.each { |node| add_reports(tar, node['certname']) }
        end

        def add_catalogs(tar, nodes, names)
          stored = by_name(rows('catalogs', names))
          stored.each { |row| add_command(tar, 'catalogs', Wire.catalog(row)) }
          others = nodes.reject { |node| stored.any? { |row| row['certname'] == node['certname'] } }
          exports = rows('resources', ['and', names, ['=', 'exported', true]]).group_by { |row| row['certname'] }
          others.each do |node|
            resources = exports[node['certname']]
            add_command(tar, 'catalogs', Wire.exports(node, resources)) if resources
          end
        end

        def add_reports(tar, certname)
          hashes = in_order(rows('reports', ['extract', ['hash', *ORDER], ['=', 'certname', certname]]))
          hashes.each_slice(REPORTS) do |some|
            reports = rows('reports', ['in', 'hash', ['array', some.map { |row| row['hash'] }]])
            in_order(reports).map { |row| Wire.report(row) }.compact
                             .each { |report| add_command(tar, 'reports', report) }
          end
        end

        def by_name(rows)
          rows.sort_by { |row| row['certname'] }
        end

        def in_order(reports)
          reports.sort_by { |row| row.values_at(*ORDER).map(&:to_s) }
        end

        # PuppetDB finds catalogs and reports by the 40 digits at the end of their names only.
        def add_command(tar, folder, payload)
          digest = Digest::SHA1.hexdigest(Native.generate(payload))
          add(tar, "#{folder}/#{payload['certname'][0, NAME_MAX]}-#{digest}.json", payload)
        end

        def add(tar, name, data)
          text = Native.generate(data)
          tar.add_file_simple("#{FOLDER}/#{name}", MODE, text.bytesize) { |io| io.write(text) }
        end

        def rows(entity, query)
          @ask.call('path' => [entity], 'query' => query).data
        end
      end
    end
  end
end
