# frozen_string_literal: true

module Simpkv
  module Resources
    # The backends of the resources of one catalog, and their stores. A backend that cannot be used fails each time for
    # the same reason, which is found once.
    class Backends
      # @param catalog [Puppet::Resource::Catalog, nil] nil for `puppet resource`
      def initialize(catalog)
        @catalog = catalog
        @stamp = stamp
        @backends = {}
        @stores = {}
        @stores_without_links = {}
      end

      # @return [Boolean] whether the file with the options has changed: the same run may manage it
      def outdated?
        @stamp != stamp
      end

      # @return [String, nil] the file with the options
      def file
        @stamp&.first
      end

      # @param resource [Puppet::Type, Hash]
      # @return [Backend] its backend
      # @raise [ConfigError, SystemCallError]
      def backend(resource)
        chosen = [resource[:backend], resource[:global]]
        made = @backends[chosen] ||= attempt { new_backend(*chosen).tap { |backend| check_unique(backend) } }
        made.is_a?(Exception) ? raise(made) : made
      end

      # @param backend [Backend]
      # @param make [Boolean] whether to make a missing store in files
      # @return [Store, nil] nil if it is missing
      # @raise [Error, ConfigError, SystemCallError]
      def store(backend, make: false)
        made = @stores[backend.identity] ||= (attempt { backend.open } if make || backend.there?)
        made.is_a?(Exception) ? raise(made) : made
      end

      # The same for calls that remove what they find. In files, they follow no link to a folder.
      def store_without_links(backend)
        return store(backend) unless backend.links?

        made = @stores_without_links[backend.identity] ||= (attempt { backend.open_without_links } if backend.there?)
        made.is_a?(Exception) ? raise(made) : made
      end

      # Passes a store to the block. If a directory did not answer before, fails at once, so that not every resource
      # waits for a server that hangs.
      #
      # @param links [Boolean] whether it is {#store} or {#store_without_links}
      # @yieldparam store [Store, nil]
      # @raise as {#store}
      def with_store(backend, make: false, links: true)
        opened = links ? store(backend, make: make) : store_without_links(backend)
        begin
          yield opened
        rescue UnavailableError, TimeoutError => e
          give_up(backend, e) if backend.settings['type'] == 'ldap'
          raise
        end
      end

      # @return [Object, Exception] what the block returns, or why it failed
      def attempt
        yield
      rescue Error, ConfigError, ArgumentError, SystemCallError => e
        e
      end

      private

      def give_up(backend, error)
        why = "the directory did not answer earlier in this run: #{error.message}"
        @stores[backend.identity] = error.class.new(why)
      end

      def stamp
        return unless defined?(SiteFile)

        file = SiteFile.find([Puppet[:confdir]])
        stat = File.stat(file) if file
        [file, stat&.mtime, stat&.size, stat&.ino]
      rescue ConfigError, SystemCallError
        nil
      end

      # Errors in the options of a backend that the file defines name the file.
      def new_backend(chosen, global)
        confdirs = [Puppet[:confdir]]
        return made_of(SiteFile.load(confdirs) { |site| site }, chosen, global) if chosen.is_a?(Hash)

        SiteFile.load(confdirs) { |site| made_of(site, chosen, global) }
      end

      def check_unique(backend)
        same = @backends.values.find { |other| !other.is_a?(Exception) && other.title == backend.title }
        Validation.check_same(same.settings, backend.settings) if same
      end

      def made_of(site, chosen, global)
        merged = options(site, chosen, global)
        warn = ->(warning) { Puppet.warning("simpkv: #{warning}") }
        backend = Backend.new(merged, Vardirs.of_puppet, warn, node: Puppet[:certname])
        backend.doubts.each(&warn)
        backend
      end

      def options(site, chosen, global)
        merged = Backend.site_options(site)
        if chosen.is_a?(Hash)
          name = chosen.values_at('type', 'id').join('/')
          merged['backends'] = Config.backends_of(merged).merge(name => chosen)
          chosen = name
        end
        merged['backend'] = chosen || Config.backend_for(merged, nil)
        global = global == :true unless global.nil? # rubocop:disable Lint/BooleanSymbol
        merged['global'] = global.nil? ? Config.flag(merged, 'global') : global
        merged.merge('environment' => Config.environment(merged, environment, environment == 'bolt_catalog'))
      end

      # Outside a catalog, and in the one of `puppet resource`, which has no name, Puppet's setting counts.
      def environment
        name = @catalog.environment.to_s if @catalog&.name
        ['', 'none', nil].include?(name) ? configured_environment : name
      end

      # `puppet resource` sets `environment` to production if this machine has no folder of the environment.
      def configured_environment
        settings = Puppet.settings
        sections = [Puppet.run_mode.name, :main]
        (settings.set_by_cli(:environment) ||
          sections.map { |section| settings.set_in_section(:environment, section) }.compact.first ||
          Puppet[:environment]).to_s
      end
    end
  end
end
