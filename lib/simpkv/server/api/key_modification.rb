# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # When a key was last changed, and by whom, as its store tells: the time of a file, the operational attributes of
      # an entry of a directory. A document that was encrypted again was changed, too.
      module KeyModification
        ATTRIBUTES = %w[modifyTimestamp modifiersName].freeze
        TIME = /\A(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z\z/.freeze
        private_constant :ATTRIBUTES, :TIME

        class << self
          # @param backend [Backend]
          # @param store [Store] of the backend
          # @param path [String] of a key in it
          # @return [Hash{String => String}] `modified_at`, and of an entry `modified_by`, the DN that was bound; not
          #   what the service may not see
          # @raise [Error] the directory cannot be asked
          def of(backend, store, path)
            backend.ldap? ? entry(backend.settings, store, path) : file(backend.place.path, path)
          end

          private

          def file(root, path)
            { 'modified_at' => Versions.text(File.lstat(File.join(root, path)).mtime.utc) }
          rescue SystemCallError
            {}
          end

          def entry(settings, store, path)
            dn = Native.dn_from_path(settings['layout'].to_sym, :key, settings['base_dn'], settings['id'], path)
            found = store.read_entry(dn, ATTRIBUTES).transform_values(&:first)
            { 'modified_at' => time(found['modifyTimestamp']), 'modified_by' => found['modifiersName'] }.compact
          rescue DeniedError, NotFoundError
            {}
          end

          # @param text [String, nil] a GeneralizedTime
          # @return [String, nil]
          def time(text)
            numbers = text.to_s.match(TIME)&.captures
            numbers && Versions.text(Time.utc(*numbers))
          end
        end
      end
    end
  end
end
