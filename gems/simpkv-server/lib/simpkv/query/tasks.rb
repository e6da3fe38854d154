# frozen_string_literal: true

require 'json'
require 'simpkv/estate/node_list'

module Simpkv
  module Query
    # What a worker does beside queries: work whose time and memory a client of the service decides, because it has the
    # client's regular expressions. A task is a Hash that JSON can hold. Its member `task` is the name of a method here.
    #
    # nodes:: filters a list of nodes: `nodes`, `filters`, `facts`, `case_sensitive` and the option `secret_names`: see
    #   {Estate::NodeFilter}; the result is the list of the numbers of those that match
    # rules:: reads the inspection rules `rules`, a text of JSON, and inspects a node with them, if there is an `input`;
    #   the result is the output: see {Native::Rules}
    class Tasks
      # @param task [Hash{String => Object}]
      # @return [Object] plain data
      # @raise [Simpkv::InvalidError, TooLargeError]
      def perform(task)
        case task.fetch('task')
        when 'nodes' then nodes(task)
        when 'rules' then rules(task)
        end
      end

      private

      def nodes(task)
        given, nodes, *estate = task.values_at('filters', 'nodes', 'facts', 'case_sensitive')
        estate << Estate::SecretNames.new(task['secret_names'])
        Estate::NodeFilter.limited do
          filters = given.map { |text| Estate::NodeFilter.new(text, Estate::NodeList::MEMBERS, *estate) }
          nodes.each_index.select { |number| filters.all? { |filter| filter.match?(nodes[number]) } }
        end
      end

      # The next task often has the same rules.
      def rules(task)
        text, input = task.values_at('rules', 'input')
        @rules = nil unless text == @text
        @rules ||= Native::Rules.new(text)
        @text = text
        @rules.inspect_node(input) if input
      end
    end
  end
end
