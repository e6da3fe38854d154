# frozen_string_literal: true

require 'simpkv/document/plain_yaml'
require 'simpkv/inspection/rules/definition'

module Simpkv
  module Inspection
    class Rules
      # The rules of the file that the option `built_in` names: a list in YAML or JSON. A rule without `uuid` gets one
      # that depends on its description. Reads the file again when it has changed. Thread-safe.
      class BuiltIn
        # @param fields [Object] those of a rule in the file
        # @return [Hash]
        # @raise [InvalidError] it has no UUID, or no place in the order
        def self.rule(fields)
          rule = Definition.complete(fields)
          wrong = Definition.unlistable(rule)
          wrong ||= 'description: a built-in rule needs one, or a uuid' unless rule['description'] || rule['uuid']
          raise InvalidError, wrong if wrong

          rule['uuid'] ||= Definition.derived_uuid('built in', rule['description'])
          rule.merge('built_in' => true)
        end

        # @param file [String, nil] nil for no rules
        def initialize(file)
          @file = file
          @mutex = Mutex.new
        end

        # Returns the rules in the order of the file. The core has not checked them, because the names of the site's
        # actions may be unknown here.
        #
        # @return [Array<Hash>] frozen, and the same object until the file changes
        # @raise [ConfigError] the file cannot be read, or a rule has no place in the order; the message names the file
        def rules
          return [].freeze unless @file

          @mutex.synchronize do
            stat = File.stat(@file)
            state = [stat.mtime, stat.size, stat.ino]
            # A file that has just changed may change again within the resolution of its time.
            @rules = nil if state != @state || stat.mtime > Time.now - 2
            @state = state
            @rules ||= Config.frozen(read)
          end
        rescue SystemCallError => e
          why = SystemCallError.new(nil, e.errno).message
          raise ConfigError, "'built_in' of 'inspection_rules' of 'estate': #{@file}: #{why}", cause: nil
        end

        # @param uuid [String]
        # @return [Hash, nil] the rule; nil if there is none
        # @raise [ConfigError]
        def get(uuid)
          rules.find { |rule| rule['uuid'] == uuid }
        end

        # @param rules [Array<Hash>] of which the built-in ones are checked
        # @param site_actions [Array<String>]
        # @yieldparam what [String] the file and the rule
        # @yieldparam why [String] it is wrong
        # @return [void]
        def each_fault(rules, site_actions)
          rules.each do |rule|
            Definition.compiled(rule, site_actions) if rule['built_in']
          rescue InvalidError, TooLargeError => e
            yield "#{@file}: #{Definition.named(rule)}", e.message
          end
        end

        # @param uuid [String]
        # @return [void]
        # @raise [InvalidError] there is such a rule
        # @raise [ConfigError]
        def refuse(uuid)
          return unless get(uuid)

          raise InvalidError, "uuid: the rule #{uuid} is built in, by #{@file}, and cannot be changed or deleted"
        end

        private

        def read
          rules = RuleList.each(PlainYaml.parse(File.read(@file), strict: true)) { |fields| BuiltIn.rule(fields) }
          RuleList.refuse_twice(rules)
          rules
        rescue MalformedError, InvalidError, TooLargeError => e
          raise ConfigError, "#{@file}: #{e.message}", cause: nil
        end
      end
    end
  end
end
