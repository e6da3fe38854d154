# frozen_string_literal: true

require 'simpkv/query/route'

module Simpkv
  module Server
    module Api
      # A request for a query, in the form of PuppetDB's API.
      class PdbQuery
        PAGING = %w[limit offset order_by include_total].freeze
        # Parameters of some entities.
        OPTIONS = %w[summarize_by count_by counts_filter distinct_resources distinct_start_time
                     distinct_end_time].freeze
        # Parameters that PuppetDB's clients send, and that change nothing here.
        IGNORED = %w[origin].freeze
        # What the answer has to have: the changes of a command, and those of a node.
        WAIT, WAIT_NODE = %w[wait_for wait_for_node].freeze
        KNOWN = ['query', 'pretty', 'ast_only', WAIT, WAIT_NODE, *PAGING, *OPTIONS, *IGNORED].freeze
        YES = [true, 'true'].freeze
        # The form of the id of a command.
        UUID = /\A\h{8}(?:-\h{4}){3}-\h{12}\z/.freeze
        private_constant :PAGING, :OPTIONS, :IGNORED, :WAIT, :WAIT_NODE, :KNOWN, :YES

        # @param segments [Array<String>] of the path after the version
        # @param parameters [Hash{String => Object}] of the query of a GET, where all are texts, or the body of a POST
        # @raise [Problem] there is no such path; a parameter is unknown or missing
        def initialize(segments, parameters)
          if segments.any? && Query::Route.of(segments).nil?
            raise Problem.new(404, "there is no /pdb/query/v4/#{segments.join('/')}")
          end

          check(segments, parameters)
          @segments = segments
          @parameters = parameters
        end

        # Waits until the index has the changes that the answer has to have.
        #
        # @param queries [Queries]
        # @return [void]
        # @raise [Query::StaleError] it does not have them in time
        # @raise [Simpkv::Error]
        def await(queries)
          queries.await_command(@parameters[WAIT]) if @parameters[WAIT]
          queries.await_node(@parameters[WAIT_NODE]) if @parameters[WAIT_NODE]
        end

        # @return [Hash{String => Object}] see {Query::Workers#ask}
        def question
          { 'path' => @segments, 'query' => @parameters['query'], 'paging' => paging,
            'options' => @parameters.slice(*OPTIONS), 'pretty' => flag('pretty'), 'ast_only' => flag('ast_only') }
        end

        # @return [Boolean] whether the whole answer is a detail of a report
        def details?
          @segments.first == 'reports' && @segments[2] == 'logs'
        end

        private

        def check(segments, parameters)
          unknown = (parameters.keys - KNOWN).first
          raise Problem.new(400, "Unsupported query parameter '#{unknown.to_s.scrub}'") if unknown

          check_waits(parameters)
          return if segments.any? || parameters.key?('query')

          raise Problem.new(400, "Missing required query parameter 'query'")
        end

        def check_waits(parameters)
          uuid, node = parameters.values_at(WAIT, WAIT_NODE)
          raise Problem.new(400, "#{WAIT}: it must be the uuid of a command") unless uuid.nil? || uuid.to_s.match?(UUID)
          raise Problem.new(400, "#{WAIT_NODE}: it must be the name of a node") unless node.nil? || node.is_a?(String)
        end

        def paging
          @parameters.slice(*PAGING)
        end

        def flag(name)
          YES.include?(@parameters[name])
        end
      end
    end
  end
end
