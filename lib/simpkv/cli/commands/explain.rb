# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Prints the place of a key and the reasons for it.
      class Explain < Command
        SECTION = :storage
        SUMMARY = 'print the place of a key and the reasons for it'
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Prints the backend of a key and the reason for this choice, the path of the key there, and the file or the
          entry that holds it. If the backend has a write_uri, which takes the writes, prints that too. Reads nothing
          but the configuration: the key need not exist. Prints no value.
        TEXT
        EXAMPLES = {
          'simpkv explain app1/db_password' => 'In the environment production',
          'simpkv --from-puppet explain -e dev app1/db_password' => 'With the options of Hiera'
        }.freeze

        def run(key)
          path = about(key) { backend.path(key) }
          facts = {
            'key' => key, 'path' => path, 'backend' => backend.name, 'chosen' => backend.reason,
            'type' => backend.type, 'id' => backend.id, 'location' => backend.location
          }.merge(about(key) { place(path) }, warnings(key))
          output.facts(facts)
        end

        private

        def place(path)
          return { 'file' => File.join(backend.place.path, path) } unless backend.ldap?

          layout = backend.settings['layout']
          kind = path == backend.prefix ? :folder : :key
          dn = Native.dn_from_path(layout.to_sym, kind, backend.settings['base_dn'], backend.id, path)
          { 'write_uri' => backend.settings['write_uri'], 'layout' => layout, 'dn' => dn,
            'as' => backend.bound_as }.compact
        end

        # The reason why functions refuse the key.
        def warnings(key)
          Native.key_check(key, backend.case_sensitive?)
          {}
        rescue Simpkv::Error => e
          { 'but' => e.message }
        end
      end
    end
  end
end
