# frozen_string_literal: true

require 'securerandom'
require 'simpkv/server/application'
require 'simpkv/server/commands/intake'
require 'simpkv/server/commands/submission'

module Simpkv
  module Server
    module Api
      # The commands of PuppetDB's API: /pdb/cmd/v1. They write at once: there is no queue.
      class PdbCommands < Application
        # The form of an id of a request that can be the one of a command.
        UUID = /\A\h{8}(?:-\h{4}){3}-\h{12}\z/.freeze
        private_constant :UUID

        route do |r|
          r.is(['', true]) do
            at('/pdb/cmd/v1')
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
            save(submission.command(text))
          end
          done = submission.wait? ? { 'processed' => true, 'timed_out' => false } : {}
          # The log has it, if it is the one of the request.
          { 'uuid' => env[Observation::ID].match?(UUID) ? env[Observation::ID] : SecureRandom.uuid, **done }
        end

        def save(command)
          command.save(site.estate(caller))
        rescue UnencodableError # Its message has the path inside a value, which could show a part of a secret.
          raise Problem.new(400, 'the payload has a value that no document can hold'), cause: nil
        ensure
          Estate::Run.current.forget
        end
      end
    end
  end
end
