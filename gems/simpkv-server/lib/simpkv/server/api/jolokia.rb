# frozen_string_literal: true

require 'json'

module Simpkv
  module Server
    module Api
      # The metrics that dashboards ask PuppetDB for, in the protocol of Jolokia: the numbers of nodes and resources. It
      # answers `read`, `list`, `search` and `version`; what changes something is refused.
      class Jolokia
        PROTOCOL = '7.2'
        AGENT = '1.7.0'
        DOMAIN = 'puppetlabs.puppetdb.population'
        COUNT = ['extract', [%w[function count]]].freeze
        # By name: the value, made from the numbers of nodes and resources.
        BEANS = {
          'num-nodes' => ->(nodes, _) { nodes },
          'num-resources' => ->(_, resources) { resources },
          'avg-resources-per-node' => ->(nodes, resources) { nodes.zero? ? 0.0 : resources.fdiv(nodes) }
        }.freeze
        NOT_FOUND = 'javax.management.InstanceNotFoundException'
        NO_ATTRIBUTE = 'javax.management.AttributeNotFoundException'
        ILLEGAL = 'java.lang.IllegalArgumentException'
        private_constant :PROTOCOL, :AGENT, :DOMAIN, :COUNT, :BEANS, :NOT_FOUND, :NO_ATTRIBUTE, :ILLEGAL

        # A request that cannot be answered.
        class Refused < StandardError
          attr_reader :type, :status

          def initialize(type, message, status)
            super(message)
            @type = type
            @status = status
          end
        end
        private_constant :Refused

        # @yieldparam question [Hash] see {Query::Workers#ask}
        # @yieldreturn [Query::Workers::Answer]
        def initialize(&ask)
          @ask = ask
        end

        # @param rest [String] the path after /metrics/v2: `read/MBEAN`, `read/MBEAN/ATTRIBUTE`, `list`, ...
        # @return [Hash]
        def get(rest)
          type, mbean, attribute = rest.split('/', 3)
          answer({ 'type' => type || 'version', 'mbean' => mbean, 'attribute' => attribute }.compact)
        end

        # @param body [Hash, Array<Hash>] a request, or several
        # @return [Hash, Array<Hash>]
        def post(body)
          body.is_a?(Array) ? body.map { |request| answer(request) } : answer(body)
        end

        private

        def answer(request)
          request = {} unless request.is_a?(Hash)
          { 'request' => request, 'value' => value(request), 'timestamp' => Time.now.to_i, 'status' => 200 }
        rescue Refused => e
          { 'request' => request, 'error_type' => e.type, 'error' => "#{e.type} : #{e.message}", 'status' => e.status }
        end

        def value(request)
          case request['type']
          when 'version' then { 'agent' => AGENT, 'protocol' => PROTOCOL, 'config' => {}, 'info' => {} }
          when 'list' then { DOMAIN => BEANS.keys.to_h { |name| ["name=#{name}", description] } }
          when 'search' then matching(request['mbean'].to_s)
          when 'read' then read(request['mbean'].to_s, request['attribute'])
          else raise Refused.new(ILLEGAL, 'only read, list, search and version are possible', 400)
          end
        end

        def description
          { 'desc' => 'A number of the index of queries',
            'attr' => { 'Value' => { 'rw' => false, 'type' => 'java.lang.Object', 'desc' => 'its value' } } }
        end

        def read(pattern, attribute)
          names = matching(pattern)
          raise Refused.new(NOT_FOUND, pattern, 404) if names.empty?
          raise Refused.new(NO_ATTRIBUTE, "No such attribute: #{attribute}", 404) unless [nil,
                                                                                          'Value'].include?(attribute)

          values = names.to_h { |name| [name, { 'Value' => number(name) }] }
          return values if pattern.include?('*')

          attribute ? values.fetch(pattern)['Value'] : values.fetch(pattern)
        end

        # @return [Array<String>] the beans that a pattern names
        def matching(pattern)
          beans = BEANS.keys.map { |name| "#{DOMAIN}:name=#{name}" }
          beans.select { |bean| bean == pattern || (pattern.include?('*') && File.fnmatch?(pattern, bean)) }
        end

        def number(bean)
          BEANS.fetch(bean.delete_prefix("#{DOMAIN}:name=")).call(count('nodes'), count('resources'))
        end

        def count(entity)
          @counts ||= {}
          @counts[entity] ||= @ask.call('path' => [entity], 'query' => COUNT).data.first.fetch('count')
        end
      end
    end
  end
end
