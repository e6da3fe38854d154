# frozen_string_literal: true

require 'simpkv/status/expiring_keys'

module Simpkv
  module Server
    # What a caller may know of the parts of {SiteStatus}. An error can name keys, entries and files, as the findings of
    # doctor do: who may not see those gets a general text.
    class StatusView
      # The most keys in an answer.
      NAMED = 100
      UNREAD = 'it cannot be read: the log of the service says why'
      UNANSWERED = 'it does not answer. Who may read all keys sees why'
      MISCONFIGURED = 'configuration error. Who may read all keys sees which one'
      UNREADABLE = 'it cannot be read. Who may read all keys sees why'
      CONCEALED = { 'error' => UNANSWERED, 'lag_unknown' => UNREADABLE }.freeze
      private_constant :NAMED, :UNANSWERED, :MISCONFIGURED, :CONCEALED

      # @param rights [Rights]
      # @param caller [Caller]
      # @param request [Rack::Request] for the state
      def initialize(rights, caller, request)
        @rights = rights
        @caller = caller
        @request = request
        @details = rights.findings?(caller)
      end

      # @param name [String] of a part
      # @param reading [Status::Latest::Reading]
      # @return [Hash{String => Object}] the part
      def part(name, reading)
        return failure(reading) if reading.error || reading.value.nil?

        value = reading.value
        value = send(name, value) if %w[nodes expiring_keys servers doctor].include?(name)
        { 'time' => reading.time.iso8601, **value }
      end

      # @param name [String] of a backend
      # @return [Boolean] whether the caller may know of it
      def backend?(name)
        @rights.backend?(@caller, @request, name)
      end

      private

      def failure(reading)
        return { 'error' => 'it is being read for the first time: ask again', 'pending' => true } unless reading.error

        { 'error' => @details ? reading.error : UNREAD, 'last_success' => reading.time&.iso8601 }.compact
      end

      def nodes(found)
        @details ? found : found.merge('unreadable' => found['unreadable'].slice('total'))
      end

      # The caller sees the keys whose names the API would show.
      def expiring_keys(found)
        allowed = found[:keys].select { |key| @rights.key?(@caller, key.name, key.environment, key.backend) }
        errors = found[:errors].select { |name, _| backend?(name) }
        errors = errors.transform_values { UNREADABLE } unless @details
        Status::ExpiringKeys.plain(found.merge(keys: allowed, errors: errors), NAMED, details: @details)
      end

      def servers(found)
        servers = found['servers'].select { |server| backend?(server['backend']) }
        servers = servers.map { |server| concealed(server) } unless @details
        backends = found['without_write_uri'].select { |name| backend?(name) }
        { 'servers' => servers, 'without_write_uri' => backends }
      end

      # With `lag_unseen`, the reason names only servers of this backend, which the caller sees anyway.
      def concealed(server)
        texts = CONCEALED.slice(*server.keys)
        texts.delete('lag_unknown') if server.key?('lag_unseen')
        shown = server.merge(texts)
        shown['state'] == 'misconfigured' ? shown.merge('error' => MISCONFIGURED) : shown
      end

      def doctor(all)
        counts = %w[problem warning unknown ok].to_h { |state| [state, all.count { |each| each['state'] == state }] }
        return { 'counts' => counts } unless @details

        findings = %w[problem warning unknown].flat_map { |state| all.select { |finding| finding['state'] == state } }
        { 'counts' => counts, 'findings' => findings }
      end
    end
  end
end
