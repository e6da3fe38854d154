# frozen_string_literal: true

require 'simpkv/cli/audit_trail'
require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Prints what the storage and the audit log know of a key or a folder.
      class Stat < Command
        SECTION = :keys
        SUMMARY = 'print who made and changed a key or a folder, and when'
        SUGGEST_FOR = { 'who' => 'stat', 'blame' => 'stat', 'info' => 'stat' }.freeze
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Prints when a key or a folder was made and changed, and by whom, as its directory or its file tells; whether
          its document is encrypted, when it expires, and its number of versions, as far as that can be read without
          decrypting; the last change in the audit log, if the backend has one in a file; and what is directly below a
          folder. Prints no values. Times are UTC. A directory may hide times and identities: they are 'not shown to
          this identity' then.
        TEXT
        EXAMPLES = {
          'simpkv stat app1/db_password' => 'Who changed a password, and when',
          'simpkv stat -g app1' => 'A folder of the global keys',
          'simpkv stat app1/db_password -o json' => 'For a program'
        }.freeze

        # The facts of an entry of a directory.
        ENTRY = %w[created_at created_by modified_at modified_by].freeze
        # The seconds by which the clock of a server may differ from that of this machine.
        SKEW = 60
        UNSHOWN = 'not shown to this identity'
        private_constant :ENTRY, :SKEW, :UNSHOWN

        def run(key)
          path = existing(key)
          facts = about(key) { reading.stat(path, count: true, document: true) }
          hidden = hidden(facts, path)
          facts = facts.merge('not_shown' => hidden) if hidden.any?
          facts = { 'key' => key }.merge(facts, facts['kind'] == 'key' ? audit(path, facts) : {})
          output.print(facts) { Output.table(rows(facts)) }
        end

        private

        # A root folder has no entry before the first put.
        def hidden(facts, path)
          return [] unless backend.ldap?

          missing = ENTRY - facts.keys
          Config.root?(path) && missing == ENTRY ? [] : missing
        end

        # @return [Hash{String => Object}] the last change in the audit log; or why there is none
        def audit(path, facts)
          changed = facts['modified_at'] && Time.iso8601(facts['modified_at'])
          trail = AuditTrail.new(backend, path)
          line = trail.lines(since: changed, limit: 1).first
          return { 'audit_note' => trail.obstacle } if trail.obstacle
          return { 'audit_note' => missing(changed) } if line.nil?
          return { 'audit_note' => doubt(line) } unless Audit::Changes.done?(line)

          later = changed && changed > Time.iso8601(line['time']) + SKEW
          { 'audit' => Audit::Changes.who(line), 'audit_note' => (missing(changed) if later) }.compact
        end

        def missing(changed)
          at = " of #{Versions.text(changed)}" if changed
          "this machine's audit log has no line about the last change#{at}: another machine has made it, or another " \
            'program'
        end

        def doubt(line)
          "it is not known whether the operation '#{line['operation']}' of #{line['time']} has changed it"
        end

        # @return [Array<Array(String, Object)>] for people
        def rows(facts)
          facts.slice('kind')
               .merge('created' => event(facts, 'created'), 'changed' => event(facts, 'modified'))
               .merge(facts.slice('owner', 'size'), 'encrypted' => encryption(facts))
               .merge(facts.slice('stored_at', 'expires', 'expired', 'versions', 'keys', 'folders', 'unreadable'))
               .merge('audit_log' => last_change(facts['audit']), 'note' => facts['audit_note'])
               .compact.map { |name, fact| ["#{name.tr('_', ' ')}:", fact] }
        end

        # @return [String, nil] when and by whom; nil if the storage does not know it
        def event(facts, name)
          at, by = %w[at by].map do |part|
            facts["#{name}_#{part}"] || (UNSHOWN if facts.fetch('not_shown', []).include?("#{name}_#{part}"))
          end
          return at if by.nil? || at == by

          by == UNSHOWN ? "#{at}, its author #{by}" : "#{at} by #{by}"
        end

        def encryption(facts)
          return 'damaged: neither a document nor an encrypted one' if facts['damaged']
          return if facts['encrypted'].nil?

          facts['encrypted'] ? "with the key '#{facts['encryption_key']}'" : 'no'
        end

        def last_change(line)
          line && "#{AuditTrail.time(line)} #{line['operation']} by #{AuditTrail.author(line)}"
        end
      end
    end
  end
end
