# frozen_string_literal: true

require 'simpkv'
require 'simpkv/document/json_pointer'
require 'simpkv/estate/agreement'
require 'simpkv/estate/documents'
require 'simpkv/estate/deactivation'
require 'simpkv/estate/catalogs'
require 'simpkv/estate/completeness'
require 'simpkv/estate/counters'
require 'simpkv/estate/exports'
require 'simpkv/estate/facts'
require 'simpkv/estate/inspections'
require 'simpkv/estate/inventory'
require 'simpkv/estate/markers'
require 'simpkv/estate/misnamed'
require 'simpkv/estate/node_list'
require 'simpkv/estate/nodes'
require 'simpkv/estate/produced'
require 'simpkv/estate/purged'
require 'simpkv/estate/query'
require 'simpkv/estate/recent'
require 'simpkv/estate/removal'
require 'simpkv/estate/report_details'
require 'simpkv/estate/report_summary'
require 'simpkv/estate/reports'
require 'simpkv/estate/run'
require 'simpkv/estate/run_status'
require 'simpkv/estate/run_write'
require 'simpkv/estate/same_run'
require 'simpkv/estate/secret_names'
require 'simpkv/estate/secrets'
require 'simpkv/estate/snapshots'
require 'simpkv/estate/spool'
require 'simpkv/estate/statuses'
require 'simpkv/estate/whole_report'
require 'simpkv/backend'
require 'simpkv/config/site_file'

module Simpkv
  # The memory of a Puppet estate: facts, exported resources, node records, catalogs and reports, as global keys below
  # `estate/` of one backend. Each subject has a class, which knows no Puppet beyond the plain data that it is handed.
  # Puppet's termini named simpkv and the command use it. Thread-safe.
  class Estate
    # The folder of the estate in a store.
    FOLDER = 'globals/estate'

    # The name of the marker in a folder of the estate, which no node can have (docs/adr/0052).
    MARKER = '.estate'

    # The subjects whose folders have one.
    MARKED = %w[exported facts inventory nodes rules status].freeze

    # Those whose folders have one as well, unless `simpkv init` of an earlier version has made the estate: see
    # {Agreement}.
    MARKED_LATER = %w[catalogs counters inspections node_cache purged reports].freeze

    # A folder of the estate is missing or hidden, or the estate has not been made.
    class MissingError < ConfigError
      # @param folder [Array<String>] the names of a folder below the estate's
      # @return [MissingError] it has no marker
      def self.marker(*folder)
        new("there is no marker in '#{[FOLDER, *folder].join('/')}'. If this site has no estate yet, or one of an " \
            "earlier version, run 'simpkv init'. Otherwise the folder is missing: restore it. Or it is hidden from " \
            'this identity: correct the rights. Or other processes keep the estate in another place (id, root_path, ' \
            'base_dn, layout): correct the options')
      end
    end

    # The options of this process differ from those that the estate records (docs/adr/0063).
    class DisagreementError < ConfigError; end

    # @return [Hash{String => Object}] the options of {Config::Sections::Estate::OPTIONS} with their defaults: see {Config::Sections::Estate}
    attr_reader :options

    # @return [Agreement]
    attr_reader :agreement

    # @return [Hash{String => Hash}] the options of all backends of the site, by name
    attr_reader :backends

    # Opens the estate that the command's file configures.
    #
    # @param confdirs [Array<String>] where to look for the file: see {SiteFile.find}
    # @param vardirs [Array(Array<String>, Array<String>)] as for {#initialize}
    # @param node [#call, nil] as for {#initialize}
    # @yieldparam warning [String] about unknown options, the place of the store, or files with secrets
    # @return [Estate]
    # @raise [ConfigError] the configuration is wrong; the message names the file
    # @raise [SystemCallError] the file cannot be read
    def self.load(confdirs: SiteFile::CONFDIRS, vardirs: [Vardirs.all], node: nil, &warn)
      SiteFile.load(confdirs) do |site|
        new(site, vardirs, warn, node: node).tap { |estate| estate.doubts.each(&warn) }
      end
    end

    # Compares the options of a backend with those that the estate in it records, if there is one.
    #
    # @param settings [Hash{String => Object}] the options
    # @param store [Store] of the backend
    # @return [void]
    # @raise [DisagreementError, Error] see {Agreement#check}
    def self.check(settings, store)
      Agreement.new(settings).check(store)
    end

    # @param site [Hash] the options of the site, with `backends` and `estate`
    # @param vardirs [Array(Array<String>, Array<String>)] `vardirs` and `more` of {DefaultRoot}
    # @param warn [#call, nil] receives each warning, when the store is first used
    # @param node [#call, nil] returns the node that operations are for, in the audit log: see {AuditedStore}
    # @param anywhere [Boolean] whether reads go on while the server of `write_uri` is down: see {ReplicaReads}. They do
    #   so with a spool, too
    # @yieldparam settings [Hash{String => Object}] the options of the backend, with their defaults
    # @yieldreturn [Store] its store, which the caller has checked. Called when the store is first used. Without a
    #   block, the estate opens its store, which must exist
    # @raise [ConfigError]
    def initialize(site, vardirs = [Vardirs.all], warn = nil, node: nil, anywhere: false, &open)
      @options = Config.frozen(Config::Sections.convert(site, 'estate'))
      @backends = Config.backends_of(Backend.site_options(site))
      @backend = Backend.of_globals(site, options['backend'], vardirs, warn, node: node)
      @settings = @backend.settings
      @agreement = Agreement.new(@settings)
      @anywhere = anywhere || options.values_at('spool', 'soft_writes').any?
      @open = open
      @mutex = Mutex.new
      @shared = {}
    end

    # @return [Array<String>] a warning for each unknown option of the site and of the backend
    def doubts
      @backend.doubts
    end

    # Returns the store. Opens it at the first call, and never makes it: a new one would be empty, and collectors that
    # purge would remove what they have collected (docs/adr/0033).
    #
    # @return [Store]
    # @raise [ConfigError] the folder of the store is missing now, for instance because it is not mounted
    # @raise [DisagreementError] the options of the backend are not those that the estate records
    # @raise [Error] the backend cannot be used, or a directory lacks the base entry
    def store
      store = @store || @mutex.synchronize { @store ||= opened.tap { |opened| @agreement.check(opened) } }
      @backend.check unless @open
      store
    end

    # Compares the options of the backend with those that the estate records now: see {Agreement#compare}. Called where
    # the marker is read for another reason.
    #
    # @param marker [String, Error, nil]
    # @return [void]
    # @raise [DisagreementError, Error] see {Agreement#compare}
    def compare(marker)
      @agreement.compare(store, marker)
    end

    # @return [Boolean] whether names may have capital letters
    def case_sensitive?
      @settings['case_sensitive']
    end

    # Checks whether the store can have a key. Asks no server.
    #
    # @param path [String]
    # @return [void]
    # @raise [TooLargeError] a name in it is too long for a directory
    def check_key(path)
      return unless @settings['type'] == 'ldap'

      Native.dn_from_path(@settings['layout'].to_sym, :key, *@settings.values_at('base_dn', 'id'), path)
    end

    # @return [Boolean] whether a server that is not the one of writes may answer reads
    def replica?
      @settings.key?('write_uri')
    end

    # Makes a new estate, or adds what one of an earlier version lacks: see {Markers#make}. `simpkv init` does so.
    #
    # @param incomplete [Boolean] whether to give up what folders of the estate have held that are lost or hidden, and
    #   single documents of exports
    # @return [Array<String>] the folders that were made, and the documents that were given up
    # @raise [ConfigError] such a folder is lost or hidden
    # @raise [Error]
    def make(incomplete: false)
      made = markers.make(incomplete: incomplete)
      incomplete ? made + inventory.give_up : made
    end

    # @return [Boolean] whether there is no folder of an estate, as in a store that has none
    # @raise [Error, ConfigError]
    def absent?
      store.kind(FOLDER).nil?
    end

    # Records that all processes must encrypt as this one does. The caller has made sure that all documents have that
    # form. Does nothing if the estate has not been made.
    #
    # @return [void]
    # @raise [Error, ConfigError]
    def pin
      markers.record(@agreement.record)
    end

    # @return [Boolean] whether the estate records how processes must encrypt
    # @raise [Error, ConfigError]
    def pinned?
      !markers.recorded.nil?
    rescue EncryptedStore::PlainError
      true
    end

    # Lets each process choose whether and how it encrypts, until the next {#pin}.
    #
    # @return [void]
    # @raise [Error, ConfigError]
    def unpin
      @mutex.synchronize { @store ||= opened }
      markers.record({})
    end

    # @return [SecretNames]
    def secret_names
      @secret_names ||= SecretNames.new(@options['secret_names'])
    end

    # @return [Markers]
    def markers
      @markers ||= Markers.new(self)
    end

    # @return [Inventory]
    def inventory
      @inventory ||= Inventory.new(self)
    end

    # @return [Facts]
    def facts
      @facts ||= Facts.new(self)
    end

    # @return [Exports]
    def exports
      @exports ||= Exports.new(self)
    end

    # @return [Statuses]
    def statuses
      @statuses ||= Statuses.new(self)
    end

    # @return [Nodes]
    def nodes
      @nodes ||= Nodes.new(self)
    end

    # @return [Reports]
    def reports
      @reports ||= Reports.new(self)
    end

    # @return [Counters]
    def counters
      @counters ||= Counters.new(self)
    end

    # @return [Catalogs]
    def catalogs
      @catalogs ||= Catalogs.new(self)
    end

    # @return [Inspections]
    def inspections
      @inspections ||= Inspections.new(self)
    end

    # @return [Purged]
    def purged
      @purged ||= Purged.new(self)
    end

    # @return [Snapshots]
    def snapshots
      @snapshots ||= Snapshots.new(self)
    end

    # @return [Spool, nil] nil without the option `spool`
    def spool
      @spool ||= Spool.new(self) if options['spool']
    end

    # @return [Array] the same for two estates with the same keys
    # @raise [ConfigError, SystemCallError] as {Backend#identity}
    def identity
      @backend.identity
    end

    # @return [String, nil] who reads the estate in a directory; nil in files
    def bound_as
      @backend.place.bound_as
    end

    # @return [Boolean] whether the documents of the backend are encrypted
    def encrypted?
      @settings.key?('encryption_keys')
    end

    # @param store [Store]
    # @return [Store, EncryptedStore] which encrypts documents as the backend does
    def encrypted(store)
      encrypted? ? Layers.encrypted(store, @settings) : store
    end

    # @param subject [Class] of a folder above this one
    # @return [Object] the one of this estate
    def shared(subject)
      @mutex.synchronize { @shared[subject] ||= subject.new(self) }
    end

    # Removes what a node exported, and marks the node in the record of the inventory: searches leave it out until its
    # next run. What else it left stays until it {#expire}s.
    #
    # @param certname [String]
    # @param time [String] of RFC 3339 in UTC. What compilers have sent before changes nothing
    # @return [Hash{String => Object}] `deactivated`, the time of the mark, which may be a later one, and `exports`,
    #   the number of types that were removed, if there were any; empty if the node left nothing
    # @raise [Error]
    def deactivate(certname, time = Time.now.utc.iso8601(3))
      Run.current.at_writer { Deactivation.new(self).deactivate(certname, time) }
    end

    # Removes all that a node left: its exported resources first, the record of the inventory last. Its declared record
    # stays. What waits in a spool does not bring the node back.
    #
    # @param certname [String]
    # @return [Hash{String => Object}] what was removed, by subject: the number of types for `exports`, true for
    #   others; empty if the node left nothing
    # @raise [Error]
    def remove(certname)
      Run.current.at_writer { Removal.new(self).remove(certname, Time.now.utc.iso8601(3)) }
    end

    # @return [Array<String>] the names of the nodes that have had no run for the time of the option `node_ttl`, and of
    #   those that were deactivated longer ago than that of `node_purge_ttl`, sorted
    # @raise [Error]
    def removable
      Removal.new(self).due
    end

    # Removes these nodes.
    #
    # @yieldparam certname [String] of a node that was removed
    # @yieldparam removed [Hash{String => Object}] the result of {#remove}
    # @param errors [Hash{String => String}, nil] receives why a node cannot be removed, by its name
    # @return [Array<String>] the names of these nodes, sorted
    # @raise [TransientError] the store cannot be used now
    # @raise [Error] a node cannot be removed, and there are no `errors`
    def expire(errors = nil, &block)
      Removal.new(self).expire(errors, &block)
    end

    # @return [String] the backend, and no secret
    def inspect
      "#<#{self.class.name} #{@settings['type']}/#{@settings['id']}>"
    end

    private

    def opened
      return @open.call(@settings) if @open

      return @backend.open_existing unless @anywhere && replica?

      @backend.open_for_replicas { !Run.current.at_writer? }
    end
  end
end
