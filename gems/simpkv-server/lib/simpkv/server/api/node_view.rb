# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # A node as clients see it. Secrets are hidden by their names, as the command hides them.
      class NodeView
        # @param estate [Estate]
        # @param certname [String]
        # @raise [Problem] no node can have this name
        def initialize(estate, certname)
          Native.key_check(certname, estate.case_sensitive?)
          @estate = estate
          @certname = certname
          @secrets = Estate::Secrets.new(estate, false)
        rescue InvalidError, TooLargeError => e
          raise Problem.new(400, "there can be no node '#{certname}': #{e.message}"), cause: nil
        end

        # @param errors [Hash{String => String}, nil] receives why a document cannot be read, by its path
        # @return [Hash] what is known of the node, in short
        # @raise [Problem] nothing is known of it
        # @raise [MalformedError, DeniedError, IsFolderError] a document cannot be read, and there are no `errors`
        def summary(errors = nil)
          @errors = errors
          status, inventory, record, inspection = found = read
          nothing if [*found, *errors].none?

          { 'name' => @certname, 'status' => status, **of_inventory(inventory || {}),
            **of_run(status, inventory, record), 'expired' => expired?(status || {}, inventory || {}),
            'record' => record && @secrets.declared(record), 'inspection' => inspection && shown(inspection) }
        end

        # @return [Hash]
        def facts
          stored = @estate.facts.find(@certname) || missing('facts')
          values, trusted = stored.values_at('values', 'trusted')
          { 'name' => @certname, 'values' => @secrets.facts(values), 'trusted' => trusted && @secrets.facts(trusted) }
        end

        # @param errors [Hash{String => String}, nil] as for {#summary}
        # @return [Hash]
        # @raise [MalformedError] a report cannot be read, and there are no `errors`
        def reports(errors = nil)
          unreadable = errors && ->(path, why) { errors[path] = why }
          reports = @estate.reports.all(@certname, &unreadable)
          { 'reports' => reports.map do |report|
            Estate::Reports.summary(@secrets.report(report)).merge('hash' => hash_of(report))
          end }
        end

        # @param hash [String] of a report
        # @return [Hash] the report with its details
        # @raise [Problem] there is no such report, or another one has replaced it
        # @raise [MalformedError] it may be one that cannot be read; or its details cannot be read
        def report(hash)
          why = nil
          reports = @estate.reports.all(@certname) { |key, reason| why ||= MalformedError.unreadable(key, reason) }
          found = reports.find { |report| hash_of(report) == hash } || raise(why || no_report(hash))
          whole = found.merge(details(found) || raise(no_report(hash)))
          Estate::Reports.whole(@secrets.report(whole)).merge('hash' => hash)
        end

        # @return [Hash]
        # @raise [MalformedError, Estate::MissingError] the exports of a type cannot be read, or are missing
        def exports
          exports = @estate.exports.of(@certname) { |key, why| raise MalformedError.unreadable(key, why) }
          exports = exports.reject { |_, list| list.empty? }
          { 'exports' => @secrets.exports(exports) }
        end

        # @return [Hash] the declared record
        def record
          @secrets.declared(@estate.nodes.get(@certname) || missing('declared record'))
        end

        # @return [Hash] the outcome of the last inspection
        def inspection
          shown(@estate.inspections.get(@certname) || missing('inspection'))
        end

        # @param outcome [Inspection::Inspector::Outcome]
        # @return [Hash]
        def outcome(outcome)
          effects = Inspection::Explanation.shown_effects(outcome.effects, outcome.rules)
          { 'name' => outcome.certname, 'known' => outcome.known.to_s,
            'record' => outcome.record && @secrets.effective(outcome.record),
            'rules' => @secrets.explanation(outcome.rules),
            'effects' => @secrets.explanation(effects).map { |effect| without_message(effect) },
            'failed' => without_message(outcome.failed), 'error' => outcome.error }
        end

        # @param what [String] that the node lacks
        # @raise [Problem] always
        def missing(what)
          raise Problem.new(404, "'#{@certname}' has no #{what}")
        end

        private

        def hash_of(report)
          Estate::Reports.hash_of(@certname, report, @estate.secret_names)
        end

        # @return [Hash, nil] nil if another report has replaced it since it was read
        def details(report)
          token = report['details']
          token ? @estate.reports.details([@certname, report['run']] => token).values.first : {}
        end

        def no_report(hash)
          Problem.new(404, "'#{@certname}' has no report #{hash}: only its last reports are stored, as many as the " \
                           "option 'reports' says")
        end

        def nothing
          raise Problem.new(404, "there is no node '#{@certname}': the store has no status, inventory, record or " \
                                 'inspection of it')
        end

        # @param inspection [Hash] a stored one
        def shown(inspection)
          shown = @secrets.inspection(inspection)
          shown['failed'] ? shown.merge('failed' => without_message(shown['failed'])) : shown
        end

        # The command shows the messages of rules as the log of the compiler has them. Here, others read them.
        #
        # @param part [Hash, nil] an effect, or the rule that has refused the node
        def without_message(part)
          copied = @estate.options['inspection_rules']['mask_secrets'] == 'never'
          copied && part&.key?('msg') ? part.merge('msg' => Estate::Secrets::REDACTED) : part
        end

        def read
          [@estate.statuses, @estate.inventory, @estate.nodes, @estate.inspections].map { |part| document(part) }
        end

        # @param part [Estate::Documents]
        # @return [Hash, nil]
        def document(part)
          part.get(@certname)
        rescue MalformedError, DeniedError, IsFolderError => e
          raise unless @errors

          @errors[part.path(@certname)] = e.reason
          nil
        end

        # @param parts [Array<Estate::Documents>]
        # @return [Boolean] whether the document of one of them cannot be read
        def unreadable?(*parts)
          parts.any? { |part| @errors&.key?(part.path(@certname)) }
        end

        def of_inventory(inventory)
          facts, exports = inventory.values_at('facts', 'exports').map { |part| part || {} }
          { 'facts' => @secrets.facts(facts), 'exports' => exports.keys.sort }
        end

        # As {Estate::NodeList} has it. A document that cannot be read was stored, too.
        def of_run(*of_node, record)
          run = of_node.compact
          environments = (run.empty? ? [record || {}] : run).map { |each| each['environment'] }
          { 'environment' => environments.compact.first, 'never_run' => run.empty? && declared_only?(record),
            'last_seen' => last_seen(*of_node.map { |part| part || {} }) }
        end

        # @return [String, nil] nil also if nobody can tell
        def last_seen(status, inventory)
          return if unreadable?(@estate.statuses, @estate.inventory)

          Estate::Statuses.last_seen(status, inventory)
        end

        def declared_only?(record)
          return false if unreadable?(@estate.statuses, @estate.inventory)

          !record.nil? || unreadable?(@estate.nodes)
        end

        def expired?(status, inventory)
          return false if unreadable?(@estate.statuses, @estate.inventory)

          @estate.statuses.expired_of({ @certname => status }, { @certname => inventory }).any?
        end
      end
    end
  end
end
