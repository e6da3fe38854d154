# frozen_string_literal: true

require 'simpkv/access/site'
require 'simpkv/config/site_file'

module Simpkv
  module Resources
    # The resources simpkv_user, simpkv_role and simpkv_role_binding of one catalog. They are compared with one reading
    # of the directory, and with all that the catalog declares.
    class AccessCatalog
      # @param catalog [Puppet::Resource::Catalog, nil] nil for `puppet resource`
      def initialize(catalog)
        @catalog = catalog
      end

      # @return [Access::Reconciler] with its reading
      # @raise [Error, ConfigError, SystemCallError]
      def reconciler
        raise @unavailable if @unavailable

        @reconciler ||= site.reconciler { |state| after_run(state) }.tap(&:reading)
      rescue UnavailableError, TimeoutError => e
        # Each resource would wait for a server that hangs.
        @unavailable ||= e.class.new("the directory did not answer earlier in this run: #{e.message}")
        raise
      end

      # @param resource [Puppet::Type]
      # @return [Object] what it declares, as in Access::Declarations
      # @raise [InvalidError]
      def declaration(resource)
        data = { resource.section => { resource[:name] => resource.declared } }
        declarations = Access::Declarations.new(data, site.case_sensitive?)
        declarations.valid!.public_send(resource.section).fetch(resource[:name])
      end

      # @param resource [Puppet::Type]
      # @return [Array<Puppet::Type>] the resources before it: those that install the gems, manage the options, or have
      #   its password
      def before(resource)
        names = [resource.password_file, (SiteFile.find([Puppet[:confdir]]) if defined?(SiteFile))]
        index(:package).values_at('simpkv', 'simpkv-estate', 'simpkv-access').compact +
          index(:file).values_at(*names.compact).compact
      rescue ConfigError
        []
      end

      private

      def site
        @site ||= SiteFile.load([Puppet[:confdir]]) do |site|
          Access::Site.new(site, Vardirs.of_puppet, ->(warning) { Puppet.warning("simpkv: #{warning}") })
        end
      end

      # @param state [Access::State::Snapshot] as it is
      # @return [Access::State::Snapshot] as it will be if all resources are applied
      def after_run(state)
        return state unless @catalog

        resources = @catalog.resources.select { |resource| resource.respond_to?(:section) }
        present, absent = %i[present absent].map do |wanted|
          resources.select { |resource| resource.should(:ensure) == wanted }
        end
        state.with(Access::Declarations.new(data(present), site.case_sensitive?))
             .without(absent.map { |resource| [resource.section, resource[:name]] })
      end

      def data(resources)
        resources.group_by(&:section).transform_values do |same|
          same.to_h { |resource| [resource[:name], resource.declared] }
        end
      end

      # Puppet would load the type of each title that it looks up, and the type of packages takes seconds.
      #
      # @return [Hash{String => Puppet::Type}] the resources of a type, by name
      def index(type)
        @index ||= {}
        @index[type] ||= @catalog.resources.select { |resource| resource.type == type }
                                 .to_h { |resource| [resource[:name].to_s, resource] }
      end
    end
  end
end
