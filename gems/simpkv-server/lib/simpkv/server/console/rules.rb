# frozen_string_literal: true

require 'simpkv/server/console/rules/client'
require 'simpkv/server/console/rules/change_pages'
require 'simpkv/server/console/rules/export'
require 'simpkv/server/console/rules/tool_pages'
require 'simpkv/server/console/rules/list_page'
require 'simpkv/server/console/rules/rule_pages'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      # Inspection rules: /rules.
      class Rules < Section
        # The pages that are about no stored rule, by the segment of the path.
        TOOLS = { 'new' => NewRulePage, 'test' => TestPage, 'import' => ImportPage }.freeze
        # Those of a stored rule. That of the priority is the rule itself.
        CHANGES = { 'edit' => EditPage, 'priority' => RulePage, 'delete' => DeletionPage }.freeze
        private_constant :TOOLS, :CHANGES

        route do |r|
          r.is(['', true]) do
            at('/rules')
            r.get { ListPage.new(visit).show }
          end
          r.is('export') do
            at('/rules/export')
            r.get { export(visit.given('uuid')) }
          end
          r.is(TOOLS.keys) do |name|
            at("/rules/#{name}")
            page = TOOLS.fetch(name).new(visit)
            r.get { page.show }
            r.post { page.submit }
          end
          r.is(String) do |uuid|
            at('/rules/{uuid}')
            r.get { RulePage.new(visit, uuid).show }
          end
          r.is(String, CHANGES.keys) do |uuid, name|
            at("/rules/{uuid}/#{name}")
            page = CHANGES.fetch(name).new(visit, uuid)
            r.get { page.show } unless name == 'priority'
            r.post { page.submit }
          end
        end

        private

        # @param uuid [String] empty for all rules
        # @return [String] a file
        def export(uuid)
          client = Client.new(visit.api)
          rules = uuid.empty? ? client.all(detail: true) : [client.get(uuid)]
          response['content-type'] = 'text/yaml; charset=utf-8'
          response['content-disposition'] = 'attachment; filename="simpkv-rules.yaml"'
          Export.new(rules).text
        end
      end
    end
  end
end
