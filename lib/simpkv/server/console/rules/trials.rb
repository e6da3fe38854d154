# frozen_string_literal: true

module Simpkv
  module Server
    # Pages that try rules before they are stored, and bring those of a file into the store.
    class Console
      private

      # @param form [Hash{String => String}] the fields of {Rules::TRIAL}
      # @param outcome [Rules::Outcome, nil]
      def rule_test_page(form, outcome = nil, problem = nil)
        response.status = problem.status if problem
        page('Test rules', 'rule_test', form: form, outcome: outcome, problem: problem)
      end

      def try_rules
        form = Rules::TRIAL.to_h { |name| [name, field(name)] }
        form['rules'] = field('text') if form['rules'].empty? # of the page of a rule
        return rule_test_page(form) if request.POST.key?('open')

        rule_test_page(form, Rules::Outcome.new(tried_outcome(form)))
      rescue *Rules::ERRORS => e
        raise if form.nil?

        rule_test_page(form, nil, Problem.of(e))
      end

      # @return [Hash] of the API
      def tried_outcome(form)
        certname = form['certname'].strip
        given = form['facts'].strip
        raise Problem.new(400, 'name a node, or enter facts') if certname.empty? && given.empty?

        api.check('POST', rules_path('test')) unless given.empty? && form['rules'].strip.empty?
        rules = Rules::RuleText.rules(form['rules'])
        return stored_node_outcome(certname, rules) if given.empty?

        trial('facts' => Rules::RuleText.facts(given), 'record' => entered_record(form['record']), 'rules' => rules,
              'name' => (certname unless certname.empty?))
      end

      # @return [Object, nil] nil for no text
      def entered_record(text)
        Rules::RuleText.parse(text, 'record') unless text.strip.empty?
      end

      def trial(members)
        api.request('POST', rules_path('test'), data: members).data
      end

      # Without rules of the form, the API takes the stored facts as they are. With them, it gets what it shows: a rule
      # of the form must not read what the caller may not see.
      def stored_node_outcome(certname, rules)
        node = Api.path('v1', 'nodes', certname)
        if rules.empty?
          return api.request('POST', "#{node}/inspection", query: { 'stored' => true, 'dry_run' => true }).data
        end

        facts = api.get("#{node}/facts")
        trusted = facts['trusted'] ? { 'trusted' => facts['trusted'] } : {}
        trial('facts' => facts['values'].merge(trusted), 'record' => declared_record(node), 'rules' => rules,
              'name' => certname)
      end

      # @return [Hash, nil] nil for a node without one
      def declared_record(node)
        api.get("#{node}/record")
      rescue Problem, Error => e
        raise unless Problem.of(e).status == 404
      end

      def rule_import_page(text, preview: nil, problem: nil)
        response.status = problem.status if problem
        page('Import rules', 'rules_import', text: text, preview: preview, problem: problem)
      end

      # Shows what would be done first, and does it if that has not changed since.
      def import_rules
        text = import_text
        api.check('POST', rules_path('import'))
        list = Rules::RuleText.rules(text)
        preview = Rules::Preview.new(import(list, dry_run: true), rules_of_store(detail: true))
        seen = field('seen')
        return rule_import_page(text, preview: preview) if seen.empty?
        return overtaken_import(text, preview) unless seen == preview.digest

        import(list, dry_run: nil)
        go_with_notice(url('rules'), 'imported')
      rescue *Rules::ERRORS => e
        rule_import_page(text.to_s, problem: Problem.of(e))
      end

      def overtaken_import(text, preview)
        problem = Problem.new(409, 'Another operator has changed rules since this page was shown, and nothing was ' \
                                   'imported. The import would do the following now')
        rule_import_page(text, preview: preview, problem: problem)
      end

      def import(list, dry_run:)
        api.request('POST', rules_path('import'), query: { 'dry_run' => dry_run }, data: list).data['outcomes']
      end

      # @return [String] the file, if there is one, or the text of the form
      # @raise [Problem]
      def import_text
        file = request.POST['file']
        text = file.is_a?(Hash) && file[:tempfile] ? file[:tempfile].read.force_encoding(Encoding::UTF_8) : ''
        text = field('text') if text.empty?
        raise Problem.new(400, 'the file is not UTF-8') unless text.valid_encoding?
        raise Problem.new(400, 'choose a file, or enter rules') if text.strip.empty?

        text
      end
    end
  end
end
