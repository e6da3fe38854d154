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
          Prints whether a key belongs to one environment or to all, the backend of the key, and the reasons for both;
          the path of the key there, and the file or the entry that holds it. If the backend has a write_uri, which
          takes the writes, prints that too. Reads nothing but the configuration: the key need not exist. Prints no
          value.
        TEXT
        EXAMPLES = {
          'simpkv explain app1/db_password' => 'In the environment production',
          'simpkv --from-puppet explain -e dev app1/db_password' => 'With the options of Hiera'
        }.freeze

        def run(key)
          path = about(key) { backend.path(key) }
          facts = {
            'key' => key, 'path' => path, 'belongs_to' => owner, 'backend' => backend.name, 'chosen' => backend.reason,
            'type' => backend.type, 'id' => backend.id, 'location' => backend.location
          }.merge(about(key) { place(path) }, warnings(key))
          output.facts(facts)
        end

        private

        # @return [String] the environment of the key, and why
        def owner
          given = @flags[:environment]
          return "all environments, by #{@flags[:global] ? '--global' : site_global}" if backend.prefix == 'globals'
          return "the environment 'production', by default: functions use that of the catalog" if given.nil?
          return "the environment that the path begins with, by --environment ''" if given.empty?

          others = ", but functions use that of all environments, by #{site_global}" if site_global
          "the environment '#{given}', by --environment#{others}"
        end

        # @return [String, nil] what makes all keys global for functions
        def site_global
          "'global' in #{configuration.source}" if Config.flag(configuration.site, 'global')
        end

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
