# frozen_string_literal: true

require 'securerandom'
require 'simpkv/server/api/json_only'
require 'simpkv/server/api/pdb_query'
require 'simpkv/server/application'
require 'simpkv/server/commands/execution'
require 'simpkv/server/commands/intake'
require 'simpkv/server/commands/submission'

module Simpkv
  module Server
    module Api
      # The commands of PuppetDB's API: /pdb/cmd/v1. They write at once: there is no queue.
      class PdbCommands < Application
        include JsonOnly

        route do |r|
          r.is(['', true]) do
            at('/pdb/cmd/v1')
            demand_json
            r.post { json(receive(r)) }
          end
        end

        private

        # @return [Hash{String => Object}] the answer
        def receive(request)
          # A page of another site cannot send this type without being asked.
          if request.media_type != 'application/json'
            raise Problem.new(415, 'Content-Type: it must be application/json')
          end

          submission = Commands::Submission.new(query(*Commands::Submission::PARAMETERS))
          opts.fetch(:commands).read(request.body, env['HTTP_CONTENT_ENCODING']) do |text|
            note_checksum(submission, text)
            note_late(submission) unless Commands::Execution.of(submission.command(text), estate)
          end
          done = submission.wait? ? { 'processed' => true, 'timed_out' => false } : {}
          { 'uuid' => noted(submission.certname), **done }
        end

        # @return [String] the id of the command. The log has it, if it is the one of the request
        def noted(certname)
          uuid = env[Observation::ID].match?(PdbQuery::UUID) ? env[Observation::ID] : SecureRandom.uuid
          opts.fetch(:queries)&.note(uuid, certname)
          uuid
        end

        def note_checksum(submission, text)
          debug { 'the checksum of a command is not that of its body' if submission.other_checksum?(text) }
        end

        # A node stays silent if a clock was wrong once.
        def note_late(submission)
          debug { "a command about '#{submission.certname}' changes nothing: something newer of the node is stored" }
        end

        def debug(&message)
          opts.fetch(:log).debug(id: env[Observation::ID], from: caller, &message)
        end
      end
    end
  end
end
