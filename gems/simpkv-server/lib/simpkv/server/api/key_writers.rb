# frozen_string_literal: true

require 'simpkv/audit/changes'
require 'simpkv/audit/trail'
require 'simpkv/server/api/folder_trail'

module Simpkv
  module Server
    module Api
      # Who has stored the versions of a key, by the audit log of this machine.
      module KeyWriters
        # Bytes of a log that a request reads. `simpkv log` reads a larger one.
        LARGEST = 64 << 20
        # The same for the list of a folder, which is asked for more often.
        LARGEST_OF_LIST = 8 << 20
        private_constant :LARGEST, :LARGEST_OF_LIST

        # @param backend [Backend]
        # @param path [String] of the key in the store
        # @param versions [Array<Hash{String => Object}>] of a description
        # @return [Array<Hash{String => Object}>] the versions, with `stored_by` where one line of the log alone can be
        #   that of the write
        def self.name(backend, path, versions)
          times = versions.map { |version| version['stored_at'] }.compact
          return versions unless times.any? && times.all?(String)

          lines = lines(backend, path, Time.iso8601(times.min))
          writers = Audit::Changes.new(lines).writers(versions)
          versions.map { |version| version.merge(by(writers[version['version']])) }
        rescue SystemCallError, InvalidError, ArgumentError
          versions
        end

        # The same for the current values of a part of a folder.
        #
        # @param folder [String] its path in the store
        # @param keys [Hash{String => Hash}] of {KeyList#of}
        # @return [Hash{String => Hash}] the keys, with `stored_by`
        def self.name_all(backend, folder, keys)
          times = keys.transform_values { |body| body['stored_at'] }.select { |_, time| time.is_a?(String) }
          file = file(backend, LARGEST_OF_LIST)
          return keys unless file && times.any?

          trail = FolderTrail.new(file, backend.title, folder, times.keys)
          lines = trail.by_key(since: Time.iso8601(times.values.min))
          keys.to_h { |name, body| [name, body.merge(by(writer(lines[name], body)))] }
        rescue SystemCallError, InvalidError, ArgumentError
          keys
        end

        # @return [Hash, nil] the line of the write
        def self.writer(lines, body)
          lines && Audit::Changes.new(lines).writers([{ 'version' => 0, **body.slice('stored_at') }])[0]
        end
        private_class_method :writer

        # @return [Array<Hash{String => Object}>] of the log; none if it is no file, or too large
        def self.lines(backend, path, since)
          file = file(backend, LARGEST)
          file ? Audit::Trail.new(file, backend.title, path).enum_for(:each, since: since).to_a : []
        end
        private_class_method :lines

        # @param most [Integer] bytes
        # @return [String, nil] the log; nil if it is no file, or larger
        def self.file(backend, most)
          file = backend.settings['audit']&.fetch('to')
          return if file.nil? || file.match?(/\Asyslog(:|\z)/)

          file if [file, "#{file}.1"].sum { |name| File.size?(name).to_i } <= most
        end
        private_class_method :file

        # @return [Hash{String => String}] the writer as `simpkv log` names it
        def self.by(line)
          line ? { 'stored_by' => "#{line['identity']} (user #{line['user']}, node #{line['node']})" } : {}
        end
        private_class_method :by
      end
    end
  end
end
