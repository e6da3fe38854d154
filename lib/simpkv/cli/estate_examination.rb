# frozen_string_literal: true

require 'simpkv/cli/examination'
require 'simpkv/estate'

module Simpkv
  module Cli
    # Checks whether the documents of the estate agree with each other. Reads a document again that looks wrong, because
    # nodes run meanwhile.
    class EstateExamination < Examination
      # @param estate [Estate] in the backend
      # @param arguments [Array] see {Examination#initialize}
      def initialize(estate, *arguments, **more)
        super(*arguments, **more)
        @estate = estate
      end

      # @return [void]
      # @raise [Simpkv::Error] the backend cannot be used
      def perform
        @paths = backend.store.tree(Estate::FOLDER, values: false, required: false)[:keys].keys
        @records = read_records
        wrong = look_at_facts + look_at_exports
        return if wrong.any?

        findings.ok('nodes', "#{Output.count(@records.length, 'node')}, #{Output.count(@paths.length, 'document')}")
      end

      private

      def read_records
        errors = {}
        records = @estate.inventory.all(valid: Hash.method(:===)) { |key, why| errors[key] = why }
        each_named(errors.sort, 'inventory') do |key, why|
          findings.problem("key '#{Output.name(key)}'", why, "#{removal(key)}: the next run of the node stores it anew")
        end
        records
      end

      # Unchanged facts are not stored again, so a run alone does not bring them back.
      def look_at_facts
        there = Set.new(below('facts'))
        missing = @records.select { |name, record| record['facts_digest'] && !there.include?(name) }.keys.sort
        missing.select! { |name| @estate.inventory.get(name)&.key?('facts_digest') && @estate.facts.find(name).nil? }
        each_named(missing, 'facts') do |name|
          findings.problem("facts of '#{Output.name(name)}'", 'they are missing, though the inventory names them',
                           "#{removal(@estate.inventory.path(name))}: the next run of the node stores them anew")
        end
      end

      # A save deletes the exports of the types that the inventory names; others would stay for ever.
      def look_at_exports
        stored = below('exported').map { |path| path.split('/', 2) }.select { |pair| pair.length == 2 }
        orphans = stored.reject { |type, name| exports?(@records[name], type) }
        orphans = orphans.sort.reject { |type, name| exports?(@estate.inventory.get(name), type) }
        each_named(orphans, 'exports') do |type, name|
          fix = removal("#{Estate::FOLDER}/exported/#{type}/#{name}")
          fix = "#{simpkv('node', 'deactivate', name)}, unless the node runs again" unless @records.key?(name)
          findings.problem("exports of '#{Output.name(name)}'", "the inventory does not name the type #{type}", fix)
        end
      end

      def exports?(record, type)
        record.is_a?(Hash) && record['exports'].is_a?(Hash) && record['exports'].key?(type)
      end

      # @return [Array<String>] the paths below a subject's folder
      def below(subject)
        @paths.select { |path| path.start_with?("#{subject}/") }.map { |path| path.delete_prefix("#{subject}/") }
      end

      # @param wrong [Array]
      # @param what [String] the subject of the finding that counts those that are not named
      # @return [Array] the same
      def each_named(wrong, what, &block)
        wrong.first(NAMED).each(&block)
        return wrong if wrong.length <= NAMED

        findings.problem(what, "#{wrong.length} such documents, of which #{NAMED} are named", 'repair each of them')
        wrong
      end
    end
  end
end
