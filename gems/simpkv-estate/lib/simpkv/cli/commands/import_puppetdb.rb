# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/puppetdb/puppetdb'
require 'simpkv/cli/puppetdb/puppetdb_import'

module Simpkv
  module Cli
    module Commands
      # Stores the facts, exported resources and reports of a PuppetDB.
      class ImportPuppetdb < EstateCommand
        SECTION = :moving
        SUMMARY = 'store the facts, exported resources and reports of a PuppetDB'
        ARGUMENTS = 'URL'
        DESCRIPTION = <<~TEXT
          Stores what a PuppetDB knows of its active nodes, so that the first run after the switch to the termini
          simpkv collects what the last run before it did: facts, exported resources, the time and the status of the
          last run, and as many reports as the option reports says, with their logs. Reads the query API of PuppetDB 4.0 or later, 50 nodes at a time, so that it needs little
          memory. Omits the facts of the option facts_blocklist. Leaves out nodes that have had a run with the termini
          simpkv since: run it before agents run with them.

          After an error, the same command continues: it does not write again what is stored already. If a node cannot
          be stored, names it, stores the others, and ends with the exit code 65.

          Stores parameters as PuppetDB has them. PuppetDB does not have Sensitive parameters, and it has references,
          Binary, default, Regexp, Timestamp and Deferred as text. The next run of a node stores its own parameters.
        TEXT
        EXAMPLES = {
          'simpkv import-puppetdb http://localhost:8080 --dry-run' => 'A dry run, on the machine of PuppetDB',
          'simpkv import-puppetdb https://puppetdb.example.com:8081 --cacert ca.pem --cert me.pem --key me.key' =>
            'From another machine, with the certificate of a client that PuppetDB accepts'
        }.freeze

        def run(url)
          puppetdb = PuppetDB.new(url, @tls)
          version = puppetdb.version
          import = PuppetDBImport.new(puppetdb, on_estate { estates })
          with_hint(import) { on_estate { import.run(@dry ? 'reading' : 'importing') } }
          facts = { 'PuppetDB' => "#{version} at #{puppetdb.title}", **summary(import) }
          output.facts(facts)
          report(import.failures)
        ensure
          puppetdb&.close
        end

        private

        def define(parser)
          @tls = {}
          @jobs = 4
          parser.on('-n', '--dry-run', 'print what would be stored, and store nothing') { @dry = true }
          parser.on('--jobs N', Integer, 'the number of nodes that are stored at once (4)') do |number|
            @jobs = number.clamp(1, 256)
          end
          parser.on('--cert FILE', 'the certificate of this client, in PEM') { |file| @tls[:cert] = file }
          parser.on('--key FILE', 'its key, in PEM') { |file| @tls[:key] = file }
          parser.on('--cacert FILE', "the certificate of PuppetDB's CA; that of the system by default") do |file|
            @tls[:cacert] = DataFile.path(file, '--cacert')
          end
        end

        # @return [Array<Estate>] one for each thread, whose stores count what is written
        def estates
          store = backend.store(jobs: @jobs)
          Array.new(@jobs) { configured.in(backend) { PuppetDBWrites.new(store, @dry) } }
        end

        # Tells how far the import came before an error.
        def with_hint(import)
          yield
        rescue Failure, Simpkv::Error, SignalException
          unless @dry || import.done.zero?
            warn "simpkv: #{Output.count(import.done, 'node')} done before the error; the same command continues"
          end
          raise
        end

        # @return [Hash{String => Integer}]
        def summary(import)
          counts = import.counts
          { 'nodes' => import.done + import.failures.length,
            (@dry ? 'to store' : 'stored') => counts[:changed], 'unchanged' => counts[:unchanged],
            'newer in the store' => counts[:newer], 'failed' => import.failures.length,
            'sets of facts' => counts[:factsets], 'exported resources' => counts[:resources],
            'reports' => counts[:reports],
            (@dry ? 'documents to store' : 'documents stored') => counts[:documents] }
        end
      end
    end
  end
end
