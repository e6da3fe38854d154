# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/estate/configured_estate'
require 'simpkv/inspection'

module Simpkv
  module Cli
    # The base class of the commands for nodes. Their data are global keys of the backend that `estate` names in the
    # file with the options, which Puppet's termini read as well.
    class EstateCommand < Command
      # The subjects of the estate in which the nodes are that an argument may name: those that left something.
      NODES_IN = %w[status inventory].freeze

      # True for a command that changes nothing: while the server of `write_uri` is down, another server answers it,
      # which may lack the last changes.
      ANYWHERE = false

      # The common options of other commands that these commands refuse, and why.
      REFUSED = {
        %w[-e --environment -g --global] => 'the nodes of all environments are in one place',
        %w[--from-puppet --node] => 'Puppet needs the nodes before it reads Hiera, so their options are in a file ' \
                                    '(--config)'
      }.freeze

      # @return [ChosenBackend] the one of the estate, or the one that the command line names
      def backend
        @backend ||= @flags[:backend] ? configuration.backend(@flags[:backend]) : backend_of_estate
      end

      # @param create [Boolean] whether to create the folder of a backend of type file
      # @return [Estate]
      # @raise [Failure, Simpkv::ConfigError]
      def estate(create: false)
        @estate ||= configured.in(backend, create: create, anywhere: anywhere?)
      end

      # @return [Array<String>] the names of the nodes that an argument may name, sorted
      def node_names
        self.class::NODES_IN.flat_map { |subject| names_in(subject) }.uniq.sort
      end

      private

      # @return [Boolean] see {ANYWHERE}
      def anywhere?
        self.class::ANYWHERE
      end

      # @return [ConfiguredEstate]
      def configured
        @configured ||= ConfiguredEstate.new(configuration)
      end

      def backend_of_estate
        name = configured.options['backend']
        configuration.backend(name)
      rescue ConfigError => e
        raise unless name

        raise e.class, "#{configuration.source}: 'backend' of 'estate' is '#{name}': #{e.message}", cause: nil
      end

      def check_number(operands)
        super
        names = { 'NODE...' => operands, 'NODE' => operands.first(1) }[self.class::ARGUMENTS[/\ANODE(\.\.\.)?/]]
        raise Failure.new('the name of a node is empty', Failure::USAGE) if names.to_a.include?('')
      end

      def common(parser)
        config_option(parser)
        backend_option(parser)
        last_options(parser)
      end

      # @raise [Failure] there is no name
      def at_least_one(names)
        raise Failure.new("which nodes? (simpkv #{self.class.title} --help)", Failure::USAGE) if names.empty?
      end

      # Runs a call of the estate. Its errors name the backend.
      #
      # @yieldparam estate [Estate]
      def on_estate
        yield estate
      rescue Simpkv::Error => e
        raise Failure.new("#{backend.title}: #{backend.explain(e)}", Failure.code_for(e))
      end

      def define_site_actions(parser)
        @site_actions = []
        parser.on('--site-action NAME', 'an action of the site that is not on this machine') do |name|
          @site_actions << name
        end
      end

      def define_show_secrets(parser)
        parser.on('--show-secrets', 'print secrets too, except those of sensitive rules') { @show_secrets = true }
      end

      # @param estate [Estate] with the options
      # @return [Estate::Secrets] hides what is not to be printed
      def secrets(estate)
        Estate::Secrets.new(estate, @show_secrets ? true : false)
      end

      # @return [Array<String>] the names of the site's actions
      def site_actions
        Inspection::ActionFiles.usual.names | @site_actions.to_a
      end

      # Lists the names in a folder of the estate, and reads no document.
      #
      # @param subject [String] such as `status`
      # @return [Array<String>] sorted
      def names_in(subject)
        listed = on_estate { estate.store.tree("#{Estate::FOLDER}/#{subject}", values: false, required: false) }
        (listed[:keys].keys - [Estate::MARKER]).map { |name| Output.name(name) }.sort
      end

      # Reads a document of a node.
      #
      # @param documents [Estate::Statuses, Estate::Inventory, Estate::Nodes]
      # @param name [String] of the node
      # @yieldparam key [String] if the document cannot be read
      # @yieldparam why [String]
      # @return [Hash, nil] nil if there is none that can be read
      def readable(documents, name)
        documents.get(name)
      rescue MalformedError => e
        yield documents.path(name), e.reason
        nil
      end

      # @param quote [Boolean] whether to quote a text that would look like other data, such as '80'
      # @return [String] a text as it is, other data as JSON, in one line
      def shown(value, quote: false)
        plain = value.is_a?(String) && !(quote && json?(value))
        Output.name(plain ? value : Native.generate(value))
      end

      def json?(text)
        Native.parse(text)
        true
      rescue MalformedError
        false
      end

      # @param name [String]
      # @param what [String] the beginning of the message, such as `there is no node`
      # @param names [Array<String>] the nodes that have it
      # @param code [Integer] the exit code
      # @raise [Failure] always, with a suggestion
      def not_there(name, what, names, code = Failure::NO_INPUT)
        likely = Spelling.nearest(name, names) unless names.include?(name)
        hint = ": did you mean '#{Output.name(likely)}'?" if likely
        raise Failure.new("#{backend.title}: #{what} '#{Output.name(name)}'#{hint}", code)
      end

      # Prints the documents that could not be read.
      #
      # @param errors [Hash{String => String}] by key
      # @return [Integer, nil] the exit code
      def report(errors)
        super(errors.transform_keys { |key| key.delete_prefix('globals/') })
      end
    end
  end
end
