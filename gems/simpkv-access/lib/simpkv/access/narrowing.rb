# frozen_string_literal: true

require 'simpkv/access/step'

module Simpkv
  module Access
    # The server-wide rules that give values away: a pure function of the state and of what was observed. They are
    # deleted only if somebody has asked for it, and put back when that is taken back (docs/adr/0083).
    class Narrowing
      # @param state [State::Snapshot]
      # @param servers [Array<VlvFeature::Server>, nil] nil if they were not looked at: then there is nothing to do
      def initialize(state, servers)
        @state = state
        @servers = servers.to_a
        @known = !servers.nil?
      end

      # @return [Array<VlvFeature::Server>] all, if their rules were to be deleted; otherwise none
      def servers
        @state.narrow? ? @servers : []
      end

      # @return [Array<String>] about each server that stays open
      def warnings
        (@servers - to_narrow).map(&:warning).compact
      end

      # @return [Array<Step>]
      def steps
        return [] unless @known

        narrow = to_narrow.map { |each| Step.new('narrow', nil, each.uri, each.to_step) }
        widen = @state.narrow? ? {} : @state.removed
        narrow + widen.map { |uri, rules| Step.new('widen', nil, uri, { add: rules, delete: [] }) }
      end

      private

      def to_narrow
        servers.reject { |server| server.rules.empty? }
      end
    end
  end
end
