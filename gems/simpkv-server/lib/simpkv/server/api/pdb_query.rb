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
        KNOWN = ['query', 'pretty', 'ast_only', *PAGING, *OPTIONS, *IGNORED].freeze
        YES = [true, 'true'].freeze
        private_constant :PAGING, :OPTIONS, :IGNORED, :KNOWN, :YES

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

        # @return [Hash{String => Object}] see {Query::Workers#ask}
        def question
          { 'path' => @segments, 'query' => @parameters['query'], 'paging' => paging,
            'options' => @parameters.slice(*OPTIONS), 'pretty' => flag('pretty'), 'ast_only' => flag('ast_only') }
        end

        private

        def check(segments, parameters)
          unknown = (parameters.keys - KNOWN).first
          raise Problem.new(400, "Unsupported query parameter '#{unknown.to_s.scrub}'") if unknown
          return if segments.any? || parameters.key?('query')

          raise Problem.new(400, "Missing required query parameter 'query'")
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
