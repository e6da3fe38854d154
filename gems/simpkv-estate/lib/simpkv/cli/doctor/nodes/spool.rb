# frozen_string_literal: true

require 'shellwords'
require 'simpkv/status/parts/spool'

module Simpkv
  module Cli
    module Doctor
      module Nodes
        # Looks at the spool of this machine: what waits there, and whether the user of puppetserver may write to it.
        class Spool
          WHAT = 'spool'
          # The number of entries that are named.
          NAMED = 5
          private_constant :WHAT, :NAMED

          # @param subject [Subject]
          def initialize(subject)
            @spool = subject.estate.spool
            @findings = subject.findings
            @user = subject.user
          end

          # @return [void]
          def perform
            return unless @spool

            look_at_user if @user
            look_for_leftovers
            look_at(@spool.summary)
          rescue Estate::SpoolError => e
            @findings.problem(WHAT, e.message, "correct the folder, or 'spool' of 'estate'")
          end

          private

          def look_for_leftovers
            count = @spool.leftovers.count
            return if count.zero?

            @findings.warning(WHAT, "killed processes have left #{Counted.of(count, 'file')} in #{@spool.path}",
                              "'simpkv spool flush' deletes what they have left, as the next delivery does")
          end

          def look_at(summary)
            return @findings.ok(WHAT, 'empty') if summary['waiting'].zero?

            stuck = @spool.stuck
            look_at_stuck(stuck.map(&:name)) if stuck.any?
            look_at_waiting(summary, (@spool.waiting.map(&:node) - stuck.map(&:node)).any?)
          end

          def look_at_stuck(names)
            more = ' and others' if names.length > NAMED
            @findings.warning(WHAT, 'entries that cannot be stored, and keep what is later of their nodes: ' \
                                    "#{names.first(NAMED).join(', ')}#{more}",
                              "'simpkv spool flush' prints the reason. Remove it, or give the entry up: simpkv spool " \
                              "rm #{names.first}")
          end

          # @param away [Boolean] whether something waits for the server of writes
          def look_at_waiting(summary, away)
            return unless away || summary['limit']

            words = Status::Parts::Spool.words(summary)
            flush = "repair the server of writes. 'simpkv spool flush' delivers it, and says what it cannot deliver"
            return @findings.warning(WHAT, "what runs reported waits: #{words}", flush) unless summary['limit']

            @findings.problem(WHAT, "it is full ('#{summary['limit']}' of 'estate'): #{words}",
                              away ? flush : 'give up what cannot be stored, or raise the limit')
          end

          def look_at_user
            folder = @spool.path
            folder = File.dirname(folder) until File.exist?(folder)
            return unless @user.obstacle(folder, write: true)

            path, user = [@spool.path, @user.name].map(&:shellescape)
            @findings.problem(WHAT, "the user #{@user.name} cannot write to #{folder}",
                              "install -d -o #{user} -m 700 #{path} && chown -R #{user} #{path}")
          end
        end
      end
    end
  end
end
