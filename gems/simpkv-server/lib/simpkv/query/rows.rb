# frozen_string_literal: true

require 'digest/sha1'
require 'simpkv/query/rows/form'
require 'simpkv/query/rows/times'
require 'simpkv/query/rows/last_run'
require 'simpkv/query/rows/public_values'
require 'simpkv/query/rows/node_row'
require 'simpkv/query/rows/fact_rows'
require 'simpkv/query/rows/catalog_rows'
require 'simpkv/query/rows/report_rows'

module Simpkv
  module Query
    # Makes the rows of a node in the index from its documents. It reads no store, and knows no SQLite.
    #
    # What is Sensitive is left out, and so is what has the name of a secret, such as `db_password`: a parameter, a
    # fact, or a member of one. What PuppetDB has and the estate does not is NULL.
    #
    # An object keeps the paths of facts that it has met, and returns rows of `fact_paths` for new ones only. Not
    # thread-safe.
    class Rows
      # What is stored of a node, as the classes of the estate return it.
      #
      # - `certname`: a String
      # - `digest`: a String that changes with the documents
      # - `inventory`, `status`, `facts`, `catalog`: Hashes; nil for none
      # - `exports`: lists of resources by type
      # - `reports`: a list, newest first
      # - `source`: that of {Estate::Snapshots}
      Documents = Struct.new(:certname, :digest, :inventory, :status, :facts, :exports, :catalog, :reports, :source,
                             keyword_init: true)

      # The columns of a row, by table: all but `id`, which the index gives, and `node`. A column `report` has
      # the hash of the report.
      COLUMNS = { 'nodes' => NodeRow::COLUMNS }.merge(FactRows::COLUMNS, CatalogRows::COLUMNS, ReportRows::COLUMNS).freeze

      # @param documents [Documents]
      # @param options [Hash{Symbol => Object}] see {#initialize}
      # @param now [Time] see {#of}
      # @return [Hash{String => Array<Array>}] see {#of}
      # @raise [MalformedError]
      def self.of(documents, now: Time.now, **options)
        new(**options).of(documents, now: now)
      end

      # Clients see these hashes: the hash of a secret would confirm a guess.
      #
      # @param content [Object] plain data that is in the index
      # @return [String] the hash of a row, in hexadecimal digits
      def self.hash_of(content)
        Digest::SHA1.hexdigest(Native.generate(content))
      end

      # @param lifetime [Numeric, nil] the option `node_ttl` of the estate, in seconds
      # @param secret_names [Estate::SecretNames]
      def initialize(lifetime: nil, secret_names: Estate::SecretNames::USUAL)
        @lifetime = lifetime
        @secret_names = secret_names
        @values = PublicValues.new(secret_names)
        forget
      end

      # @param documents [Documents]
      # @param now [Time] decides whether the node has expired
      # @param same_source [Boolean] whether to leave out the catalog and the rows of resources
      # @param status_only [Boolean] whether to leave out the rows of facts and resources. The node has facts then
      # @return [Hash{String => Array<Array>}] rows by table: values in the order of {COLUMNS}. `nodes` has one row
      # @raise [MalformedError] a document has another form than simpkv writes; quotes no value
      def of(documents, now: Time.now, same_source: false, status_only: false)
        run = LastRun.new(documents)
        documents = documents.dup.tap { |copy| copy.facts = {} } if status_only
        rows = status_only ? {} : @facts.of(documents, run)
        rows.update(CatalogRows.new(documents, run, @values).rows) unless status_only || same_source
        rows.update(ReportRows.new(documents, @secret_names).rows)
        latest = COLUMNS['reports'].zip(rows['reports'].first).to_h if rows['reports'].any?
        rows.update('nodes' => [NodeRow.new(documents, run, latest).values(@lifetime, now)])
      end

      # Forgets the paths of facts, so that the next rows have them again.
      #
      # @return [void]
      def forget
        @facts = FactRows.new(@values)
      end
    end
  end
end
