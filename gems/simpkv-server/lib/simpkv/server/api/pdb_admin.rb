# frozen_string_literal: true

require 'simpkv/server/api/summary_stats'
require 'simpkv/server/application'
require 'simpkv/server/archives/import'
require 'simpkv/server/commands/execution'
require 'simpkv/server/nameless_file'

module Simpkv
  module Server
    module Api
      # What PuppetDB has for its administrators: /pdb/admin/v1.
      class PdbAdmin < Application
        NO_PROFILE = [nil, 'none'].freeze
        # One archive is written or read at a time, and nobody waits: that would take the threads of other requests.
        ONE = Mutex.new
        private_constant :NO_PROFILE, :ONE

        route do |r|
          r.is('archive') do
            at('/pdb/admin/v1/archive')
            r.get { export(r) }
            r.post { json(import(r)) }
          end
          r.is('summary-stats') do
            at('/pdb/admin/v1/summary-stats')
            r.get { json(plain { SummaryStats.new { |question| queries.ask(question) }.to_h }) }
          end
        end

        private

        # The archive is complete before its first byte is sent.
        def export(request)
          profile = query('anonymization_profile')['anonymization_profile']
          unless NO_PROFILE.include?(profile)
            raise Problem.new(400, 'anonymization_profile: this service has none: leave it out')
          end

          file = alone { written }
          name = "puppetdb-export-#{Time.now.utc.iso8601(3)}.tgz"
          headers = { 'content-type' => 'application/octet-stream', 'content-length' => file.size.to_s,
                      'content-disposition' => "attachment; filename=#{name}" }
          request.halt([200, headers, file])
        end

        def written
          details = estate_of_details || raise(no_details('an archive'))
          file = queries.workers.answer_file
          Archives::Export.new { |question| queries.ask(question, details) }.write(file)
          file.tap(&:rewind)
        rescue StandardError
          file&.close
          raise
        end

        def alone
          raise Problem.new(503, 'another archive is being written or read') unless ONE.try_lock

          begin
            yield
          ensure
            ONE.unlock
          end
        end

        # @return [Hash{String => Object}] the answer
        def import(request)
          file = NamelessFile.new(request.env)
          archive = uploaded(request)
          stored = alone do
            Archives::Import.new(opts.fetch(:command_bytes)).read(archive) do |command|
              Commands::Execution.of(command, estate)
            end
          end
          { 'ok' => true, 'commands' => stored }
        ensure
          file&.close
        end

        # @return [File]
        def uploaded(request)
          archive = request.POST['archive'] if request.media_type.to_s.start_with?('multipart/')
          return archive[:tempfile] if archive.is_a?(Hash) && archive[:tempfile]

          raise Problem.new(400, 'archive: it must be a file, in a body of a type such as multipart/form-data')
        rescue EOFError, Rack::BadRequest
          raise Problem.new(400, 'the body is not what its type says'), cause: nil
        end
      end
    end
  end
end
