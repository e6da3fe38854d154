# frozen_string_literal: true

module Simpkv
  module Server
    class Console < Roda
      # What the pages of rules have in common.
      module Rules
        # The fields of a rule that a list shows.
        LISTED = %w[uuid description scope priority phase sensitive built_in].freeze
        # Characters of the arguments of a step, and of the text of a rule.
        ARGS = 1000
        TEXT = 20_000
        # The fields of a test.
        TRIAL = %w[certname facts record rules].freeze
        # What the API raises.
        ERRORS = [Problem, Error, ConfigError].freeze
        OVERTAKEN = 'Another operator has changed the rule since this page was shown, and nothing was done'
        # What a form has done, by {Forms#take_notice}.
        NOTICES = { 'created' => 'The rule is stored.', 'changed' => 'The change is stored.',
                    'same' => 'Nothing was changed: the text is that of the stored rule.',
                    'deleted' => 'The rule is deleted.',
                    'imported' => 'The rules are imported, as the page before has shown it.' }.freeze
        # The text of a new rule.
        EXAMPLE = <<~'YAML'
          description: web servers
          priority: 0
          phase: main
          conditions:
            - op: matches
              args: { value: '{node.name}', regex: 'web\d+\..*' }
          actions:
            - op: set-attribute
              args: { path: /parameters/role, value: web }
        YAML
      end
    end
  end
end
