# frozen_string_literal: true

module Simpkv
  module Inspection
    # Inspects nodes with the rules of the store, as the compiler does before it compiles: first phase early, then with
    # the declared record, or a blank one for a node that is discovered, phases preprocess and main.
    class Inspector
      # The members of the record that only discovery and this class write.
      NAME = 'name'

      # Rules see these members of a record that lacks them: a missing name would fail the compile of every such node.
      DEFAULTS = { 'auto_discovered' => false, 'classes' => {}, 'parameters' => {}, 'attributes' => {},
                   'port_groups' => [] }.freeze
      private_constant :NAME, :DEFAULTS

      # certname:: of the node
      # known:: :declared, :discovered, or :unknown for a node without declared record that gets none
      # record:: the effective record, with `sensitive`; nil if a rule has refused the node or failed
      # rules:: those that matched; with `explain` all of them: see docs/inspection-rules.md
      # effects:: logs and actions of the site, in order
      # failed:: the rule that has refused the node
      # error:: the rule that could not be applied
      Outcome = Struct.new(:certname, :known, :record, :rules, :effects, :failed, :error, keyword_init: true) do
        # @return [RefusedError, nil] why the node gets no record
        def refusal
          RefusedError.new(Inspector.printable(refusal_message), self) unless record
        end

        # @return [Hash{String => Object}] the form that is stored, without sensitive values
        def stored_form
          matched = rules.select { |rule| rule['matched'] }.map { |rule| rule['uuid'] }
          { 'rules' => matched, 'record' => record && Estate::Secrets.without_sensitive(record),
            'failed' => failed, 'error' => error }.compact
        end

        # @return [String] no values
        def inspect
          "#<#{self.class.name} #{certname}>"
        end
        alias_method :to_s, :inspect

        private

        def refusal_message
          rule = failed || error
          named = "the rule #{rule['rule']}#{" ('#{rule['description']}')" if rule['description']}"
          return ["refused by #{named}", rule['msg']].compact.join(': ') if failed
          return "#{named} cannot be applied. It is sensitive, so the reason is not shown" if rule['sensitive']

          [named, rule['place'], rule['message']].compact.join(': ')
        end
      end

      # @param estate [Estate]
      # @param actions [Array<String>] the names of the actions of the site
      # @return [Inspector, nil] with the rules as they are now; nil if there are none, and nodes are not discovered
      # @raise [MalformedError, InvalidError] a rule cannot be read, or is invalid; names it
      # @raise [Error]
      def self.of(estate, actions)
        engine = Rules.of(estate).engine(actions)
        new(estate, engine) if engine || estate.nodes.discover?
      end

      # @param text [String] a message of a rule, which may have parts of facts
      # @return [String] the same in one line, without the escapes of a terminal
      def self.printable(text)
        text.gsub(/[[:cntrl:]]/) { |letter| format('\\x%02X', letter.ord) }
      end

      # @param estate [Estate]
      # @param engine [Native::Rules, nil] see {Rules#engine}; nil for no rules
      # @param explain [Boolean] whether the outcome explains all rules
      def initialize(estate, engine, explain: false)
        @estate = estate
        @engine = engine
        @settings = { 'mask_secrets' => options['mask_secrets'], 'default_scope' => options['default_scope'],
                      'secret_names' => estate.secret_names.more, 'explain' => explain }
      end

      # @return [Boolean] whether there are rules
      def rules?
        !@engine.nil?
      end

      # @param certname [String]
      # @param facts [Hash{String => Object}] plain data
      # @param save [Boolean] whether to store the outcome, and the record of a discovered node
      # @yieldparam write [Estate::RunWrite] stores the outcome, which the block does
      # @return [Outcome]
      # @raise [NotFoundError] the node has no record, and the option `unknown_nodes` refuses it
      # @raise [MalformedError] its record cannot be read; names the key
      # @raise [InvalidError] the rules have given it an invalid record
      # @raise [Error]
      def perform(certname, facts, save: true, &storing)
        declared, last = @estate.inspections.get_with_record(certname)
        # A replica may not have the record yet. Discovery finds that out when it stores one.
        declared ||= @estate.nodes.get(certname) if @estate.replica? && !@estate.nodes.discover?
        CompareAndSwap.repeat("'#{certname}' could not be discovered: its record keeps appearing and vanishing: " \
                              'try again') do
          outcome = inspected(certname, facts, declared)
          next outcome unless save
          next outcome.tap { store(outcome, last, storing) } if declare(outcome)

          declared = @estate.nodes.get(certname)
          CompareAndSwap.overtaken
        end
      end

      # Inspects a node without looking for it in the store, and stores nothing.
      #
      # @param certname [String]
      # @param facts [Hash{String => Object}] plain data
      # @param record [Hash, nil] its declared record; nil for a node without one
      # @return [Outcome]
      # @raise [NotFoundError, InvalidError] as {#perform}
      # @raise [InvalidError] also if the record is invalid
      def try(certname, facts, record = nil)
        @estate.nodes.path(certname) # raises an error for a name that no node can have
        inspected(certname, facts, record && @estate.nodes.check_declared(certname, record))
      end

      # @return [String] no values
      def inspect
        "#<#{self.class.name}>"
      end

      private

      def options
        @estate.options['inspection_rules']
      end

      # @param declared [Hash, nil] the declared record
      # @return [Outcome]
      def inspected(certname, facts, declared)
        early = run(['early'], facts, 'plugin_data' => {})
        return outcome(certname, declared, early) if refused?(early)

        record = declared || @estate.nodes.blank(certname)
        sensitive = (record['sensitive'] || []).map { |path| "/node#{path}" } + early['sensitive_paths']
        later = run(%w[preprocess main], facts, 'node' => view(certname, record, facts), 'sensitive_paths' => sensitive,
                                                'plugin_data' => early['plugin_data'])
        outcome(certname, declared, early, later)
      end

      # @return [Hash] the record as rules see it
      def view(certname, record, facts)
        record = DEFAULTS.merge(record.reject { |name, value| name == 'sensitive' || value.nil? })
        record['ports'] ||= ports(facts)
        record.merge(NAME => certname, 'classes' => classes(record['classes']))
      end

      # @return [Hash{String => Hash}] the parameters of each class
      def classes(declared)
        declared.is_a?(Array) ? declared.to_h { |name| [name, {}] } : declared.transform_values { |given| given || {} }
      end

      # @return [Array<Hash>] the interfaces, sorted: the order of facts may differ from run to run
      def ports(facts)
        interfaces = facts['networking']['interfaces'] if facts['networking'].is_a?(Hash)
        return [] unless interfaces.is_a?(Hash)

        interfaces.sort.map { |name, interface| port(name, interface) }.compact
      end

      def port(name, interface)
        mac = interface['mac'] if interface.is_a?(Hash)
        { 'name' => name, 'mac' => mac } if mac.is_a?(String)
      end

      # @return [Hash] the output of the engine
      def run(phases, facts, more)
        return { 'rules' => [], 'effects' => [], 'sensitive_paths' => [] }.merge(more) unless @engine

        input = { 'phases' => phases, 'inventory' => facts }.merge(@settings, more)
        Native.parse(@engine.inspect_node(Native.generate(input)))
      rescue InvalidError
        readable = EngineValues.of(facts)
        return run(phases, readable, more) unless readable.eql?(facts)
        raise if EngineValues.of(more).eql?(more)

        raise InvalidError, 'its declared record has a name with a NUL, or a number beyond 64 bits', cause: nil
      end

      def refused?(output)
        output.key?('failed') || output.key?('error')
      end

      def outcome(certname, declared, early, later = nil)
        last = later || early
        outputs = [early, later].compact
        Outcome.new(certname: certname, known: known(declared, last), failed: last['failed'], error: last['error'],
                    record: (effective(later) unless refused?(last)),
                    rules: outputs.flat_map { |output| output['rules'] },
                    effects: outputs.flat_map { |output| output['effects'] })
      end

      def known(declared, output)
        return :declared if declared

        @estate.nodes.discover? && !refused?(output) ? :discovered : :unknown
      end

      def effective(output)
        record = output['node'].reject { |name, value| name == NAME || value == DEFAULTS[name] }
        paths = output['sensitive_paths'].map { |path| path[%r{\A/node(/.*)}m, 1] }.compact.sort
        record['sensitive'] = paths if paths.any?
        @estate.nodes.check_effective(record)
      end

      # Stores the record of a discovered node.
      #
      # @return [Boolean] false if another compiler was faster
      def declare(outcome)
        return true unless outcome.known == :discovered && outcome.record

        @estate.nodes.put_if_absent(outcome.certname, outcome.record)
      end

      # @param storing [#call, nil] see {#perform}
      def store(outcome, last, storing)
        write = Estate::RunWrite::Inspection.new(outcome.certname,
                                                 { 'outcome' => outcome.stored_form, 'last' => last })
        storing ? storing.call(write) : write.save(@estate)
      end
    end
  end
end
