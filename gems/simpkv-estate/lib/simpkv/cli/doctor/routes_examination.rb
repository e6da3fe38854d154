# frozen_string_literal: true

require 'yaml'
require 'simpkv/cli/doctor/puppet_settings'

module Simpkv
  module Cli
    # A route in routes.yaml overrides a setting of puppet.conf. This finds routes that divert what the settings send to
    # simpkv.
    class RoutesExamination
      WHAT = 'routes.yaml'
      OURS = %w[simpkv store_configs].freeze
      # Termini of facts that send them to no other store.
      LOCAL = %w[facter json memory msgpack yaml].freeze
      # By indirection: the members of a route, one of which must name simpkv or be absent; and what happens otherwise.
      # simpkv gets facts as their cache, unless it is their terminus.
      NEEDED = { 'facts' => [%w[terminus cache], 'facts are not kept in simpkv'],
                 'catalog' => [%w[cache], 'exported resources are not kept in simpkv'],
                 'resource' => [%w[terminus], 'collectors do not ask simpkv'],
                 'node' => [%w[terminus], 'nodes are not looked up in simpkv'],
                 'report' => [%w[terminus], 'reports are not kept in simpkv'] }.freeze
      private_constant :WHAT, :OURS, :LOCAL, :NEEDED

      # @param puppet [PuppetSettings]
      # @param findings [Findings] to be filled
      def initialize(puppet, findings)
        @puppet = puppet
        @findings = findings
        @file = puppet.path('route_file', '$confdir/routes.yaml')
      end

      # @return [void]
      def perform
        return unless File.exist?(@file)

        before = @findings.all.length
        routes = YAML.safe_load(File.read(@file), permitted_classes: [Symbol], aliases: true)
        { 'server' => PuppetSettings::SERVER, 'master' => PuppetSettings::SERVER, 'apply' => PuppetSettings::APPLY }
          .each { |application, sections| look_at(application, table(table(routes)[application]), sections) }
        @findings.ok(WHAT, "#{@file} keeps nothing from simpkv") if @findings.all.length == before
      rescue SystemCallError, Psych::Exception => e
        @findings.unknown(WHAT, "#{@file} cannot be read: #{e.is_a?(Psych::Exception) ? 'it is no YAML' : e.message}")
      end

      private

      def table(value)
        value.is_a?(Hash) ? value.to_h { |name, member| [name.to_s, member] } : {}
      end

      def look_at(application, routes, sections)
        routes.slice(*used(sections)).each do |name, route|
          route = table(route).transform_values(&:to_s)
          chosen = route.slice('terminus', 'cache').map { |member, value| "#{member} #{value}" }.join(', ')
          why = "#{@file} has the route #{name} of #{application} (#{chosen})"
          next lost(name, application, why) unless kept?(name, route)

          sent_elsewhere(application, why, route['terminus']) if name == 'facts'
        end
      end

      # @return [Array<String>] the indirections that the settings send to simpkv
      def used(sections)
        [*(%w[facts catalog resource] if @puppet.storeconfigs?(sections)),
         *('node' if @puppet['node_terminus', sections] == 'simpkv'),
         *('report' if @puppet.reports(sections).include?('simpkv'))]
      end

      def kept?(name, route)
        return [nil, 'processor'].include?(route['terminus']) if name == 'report'

        NEEDED[name].first.any? do |member|
          route.key?(member) ? OURS.include?(route[member]) : [name, member] != %w[facts terminus]
        end
      end

      def lost(name, application, why)
        @findings.problem(WHAT, "#{why}, so that #{NEEDED[name].last}",
                          "remove the route #{name} of #{application}, and restart puppetserver")
      end

      def sent_elsewhere(application, why, terminus)
        return if terminus.nil? || (OURS + LOCAL).include?(terminus)

        @findings.warning(WHAT, "#{why}, so that facts are sent to #{terminus}, too, and each run needs it",
                          "remove the route facts of #{application}, and restart puppetserver")
      end
    end
  end
end
