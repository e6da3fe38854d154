# frozen_string_literal: true

require 'simpkv/server/console/facts/path'
require 'simpkv/server/console/nodes/fact_list'
require 'simpkv/server/console/nodes/node_page'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # The facts of a node: as a tree, a part of it, or as a list of those with a text.
        class FactsPage < NodePage
          TITLE = 'Facts'

          private

          def content
            stored = stored('facts')
            return view(TITLE, 'nodes/facts_none', missing: stored) if missing?(stored)

            facts = FactList.new(Estate::Facts.joined(stored))
            text, path = %w[q path].map { |name| given(name) }
            return view(TITLE, 'nodes/facts', text: text, path: path, value: facts.at(path)) if text.empty? && !list?

            view(TITLE, 'nodes/fact_list', text: text, list: page_of(facts.with(text)))
          end

          def list?
            !given('list').empty?
          end

          # @param pointer [String]
          # @return [String] the address of a part of the facts
          def fact_url(pointer)
            url('nodes', @certname, 'facts', path: pointer)
          end

          # @param pointer [String]
          # @return [String] HTML: a link to all nodes with the fact
          def others(pointer)
            name = JsonPointer.parts(pointer).first
            linked("All nodes with the fact #{name}", FactPath.new([name]).address)
          end
        end
      end
    end
  end
end
