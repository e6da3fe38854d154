# frozen_string_literal: true

require 'simpkv/cli/audit_trail'
require 'simpkv/cli/command'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    module Commands
      # Prints the versions of a key, or its changes in the audit log.
      class Log < Command
        SECTION = :versions
        SUMMARY = 'print the versions of a key, or its changes'
        SUGGEST_FOR = { 'history' => 'log', 'versions' => 'log' }.freeze
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Prints the number of each version of a key, the time at which it was stored, and the time at which the key
          expires: version 0 is the current value, -1 the value before it. A time that the document does not have is
          '-'. Times are UTC. Prints no values. A key that has expired has versions, too.

          If the backend has an audit log in a file, also prints who has stored each version, if exactly one line
          of the log fits its time. Otherwise it prints '-', for instance if another machine has stored the version.
          With --audit, prints the newest changes of the key in the audit log and in the file before it, NAME.1, even
          if the key was deleted or keeps no versions (simpkv stat).
        TEXT
        EXAMPLES = {
          'simpkv log app1/db_password' => 'The versions of a password',
          'simpkv log --audit app1/db_password' => 'Who changed it, and when, by the audit log of this machine',
          'simpkv log -g app1/db_password -o json' => 'For a program'
        }.freeze

        def run(key)
          return changes(key) if @audit

          document = about(key) { reading.get(existing(key)) }
          versions, expired = about(key) { [Versions.log(document), Versions.expired?(document)] }
          versions = with_writers(versions, existing(key))
          verb = expired ? 'expired' : 'expires'
          output.print(versions) { Output.table(versions.map { |version| row(version, verb) }) }
        end

        private

        def define(parser)
          parser.on('--audit', 'print the changes of the key that the audit log has') { @audit = true }
          @number = 20
          parser.on('-n', '--number N', /\A[1-9]\d{0,4}\z/, 'with --audit: how many changes (20)') do |number|
            @number = number.to_i
          end
        end

        # Prints the changes, the newest first.
        def changes(key)
          trail = AuditTrail.new(backend, existing(key))
          lines = trail.lines(limit: @number)
          raise Failure.new("#{backend.title}: #{trail.obstacle}", Failure::UNAVAILABLE) if trail.obstacle

          found = lines.map { |line| Audit::Changes.who(line) }
          output.print(found) { Output.table(found.map { |line| change(line) }) }
          found.empty? ? Failure::NO : 0
        end

        def change(line)
          [AuditTrail.time(line), line['operation'], line['outcome'], AuditTrail.author(line)]
        end

        # @return [Array<Hash{String => Object}>] the versions, with `stored_by` where it is known
        def with_writers(versions, path)
          times = versions.map { |version| version['stored_at'] }.compact
          return versions if times.empty?

          lines = AuditTrail.new(backend, path).lines(since: Time.iso8601(times.min))
          writers = Audit::Changes.new(lines).writers(versions)
          versions.map { |version| version.merge({ 'stored_by' => writers[version['version']] }.compact) }
        rescue ArgumentError # a time of another form, which another program has written
          versions
        end

        def row(version, verb)
          expires, writer = version.values_at('expires', 'stored_by')
          [version['version'], version['stored_at'] || '-', expires ? "#{verb} #{expires}" : '-',
           *(backend.settings['audit'] && (writer ? AuditTrail.author(writer) : '-'))]
        end
      end
    end
  end
end
