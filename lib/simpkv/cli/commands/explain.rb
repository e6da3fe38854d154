# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Tells where a key is kept, and why there.
      class Explain < Command
        SUMMARY = 'tell where a key is kept, and why there'
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Tells which backend a key belongs to and why, the path it has there, and the file or the entry that holds it.
          If the backend has a write_uri, prints that, too: writes go there. Nothing is read but the configuration: the
          key need not exist. The value is not printed.
        TEXT
        EXAMPLES = {
          'simpkv explain app1/db_password' => 'In the environment production',
          'simpkv --from-puppet explain -e dev app1/db_password' => 'With the options that Hiera has'
        }.freeze

        def run(key)
          path = about(key) { backend.path(key) }
          facts = {
            'key' => key, 'path' => path, 'backend' => backend.name, 'chosen' => backend.reason,
            'type' => backend.type, 'id' => backend.id, 'location' => backend.location
          }.merge(about(key) { place(path) }, warnings(key))
          output.print(facts) { Output.table(facts.map { |name, fact| ["#{name}:", fact] }) }
        end

        private

        def place(path)
          return { 'file' => File.join(backend.root_path, path) } unless backend.ldap?

          layout = backend.settings['layout']
          kind = path == backend.prefix ? :folder : :key
          dn = Native.dn_from_path(layout.to_sym, kind, backend.settings['base_dn'], backend.id, path)
          { 'write_uri' => backend.settings['write_uri'], 'layout' => layout, 'dn' => dn,
            'as' => backend.identity }.compact
        end

        # What keeps functions from using the key.
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
