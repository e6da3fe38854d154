# frozen_string_literal: true

require 'simpkv/gems'

module Simpkv
  module Status
    # The base class of the parts of the state of a site. The class of `simpkv/status/parts/NAME.rb`, in any gem (see
    # {Gems}), is the part of that name: it reads the part, and tells of it in alerts, on the screen, as performance
    # data of Nagios, and as metrics. It overrides what it needs of the constants and methods here. The methods of the
    # class get the part as plain data, as {#read} and {.plain} return it.
    class Part
      # A limit of an alert, and the options of the command for it: the argument (`TIME`, `MS` or `N`), the text of
      # --help, and the values at which there is a warning, and an alert that is critical; nil for none.
      Limit = Struct.new(:argument, :text, :warning, :critical)

      # The place among the parts.
      RANK = 100
      # The seconds between two readings, at least; nil for a part that only the service has.
      PERIOD = nil
      # The part in words, as in "The ... cannot be read".
      WORDS = ''
      # The title on the screen; nil for a part that is not there.
      TITLE = nil
      # By name, as in `--lag-warning`, each {Limit}.
      LIMITS = {}.freeze
      # Whether the site may do without the part, so that it is no alert if it cannot be read.
      SILENT = false
      # Where metrics come from: `:state`, what {#read} returned last; `:reading`, a reading of their own by {#measure};
      # nil for a part without metrics.
      METRICS = nil

      KIND = 'status/parts'
      private_constant :KIND

      class << self
        # @return [Hash{String => Class}] the parts of all gems that are installed, by name, in their order
        def all
          Gems.all(KIND).sort_by { |name, type| [type::RANK, name] }.to_h
        end

        # @return [Hash{String => Class}] those that the command can read as well
        def readable
          all.select { |_, type| type::PERIOD }
        end

        # @param name [String] of a part, or of none
        # @return [void]
        # @raise [Gems::MissingError] the gem that has the part is not installed
        def check_gem(name)
          gem = Gems.owner(KIND, name)
          raise Gems.missing("the part '#{name}' of the state", gem) if gem
        end

        # @param value [Object] of {#read}
        # @param most [Integer] names in it
        # @return [Hash{String => Object}] the same as plain data
        def plain(value, _most)
          value
        end

        # @param site [Site]
        # @param backend [String] its name
        # @return [Regexp, nil] the paths of documents in the backend that this part judges: {Parts::ExpiringKeys} tells
        #   which of them it cannot read, too
        def judged(_site, _backend); end

        # Adds what needs attention.
        #
        # @param part [Hash]
        # @param alerts [Alerts]
        # @return [void]
        def alert(_part, _alerts); end

        # @param part [Hash]
        # @param screen [#table, #unit]
        # @return [Array<String>] lines for people
        def lines(_part, _screen)
          []
        end

        # @param part [Hash]
        # @param nagios [#datum, #limit]
        # @return [Array<String>] performance data
        def performance(_part, _nagios)
          []
        end

        # Adds metrics of the state.
        #
        # @param page [Exposition]
        # @param part [Hash] empty if it cannot be told
        # @return [void]
        def metrics(_page, _part); end
      end

      # @param site [Site]
      # @param caller [#to_s, nil] in whose name to read: see {Site}
      # @param backends [Array<String>, nil] whose servers, keys and certificates; nil for all
      def initialize(site, caller = nil, backends: nil)
        @site = site
        @caller = caller
        @names = backends
      end

      # Reads the part, which may take long.
      #
      # @return [Object] not nil
      # @raise [Error, ConfigError] it cannot be told
      def read
        raise NotImplementedError
      end

      # @return [Boolean] whether the site does without the part, so that it need not be there
      def optional?
        false
      end

      # Reads, and adds metrics.
      #
      # @param page [Exposition]
      # @return [Boolean] whether all could be read
      def measure(_page)
        raise NotImplementedError
      end

      private

      # @return [Array<String>] the names of the backends
      def names
        @names || @site.backend_names
      end

      # @return [Array<Backend>]
      def backends
        names.map { |name| @site.backend(name) }
      end
    end
  end
end
