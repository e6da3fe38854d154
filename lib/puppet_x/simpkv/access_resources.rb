# frozen_string_literal: true

# The resources simpkv_user, simpkv_role and simpkv_role_binding of one catalog. They are compared with one reading of
# the directory, and with all that the catalog declares.
access_resources_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # @param catalog [Puppet::Resource::Catalog, nil] nil for `puppet resource`
  def initialize(catalog)
    @catalog = catalog
  end

  # @return [Simpkv::Access::Reconciler] with its reading
  # @raise [Simpkv::Error, Simpkv::ConfigError, SystemCallError]
  def reconciler
    raise @unavailable if @unavailable

    @reconciler ||= site.reconciler { |state| after_run(state) }.tap(&:reading)
  rescue Simpkv::UnavailableError, Simpkv::TimeoutError => e
    # Each resource would wait for a server that hangs.
    @unavailable ||= e.class.new("the directory did not answer earlier in this run: #{e.message}")
    raise
  end

  # @param resource [Puppet::Type]
  # @return [Object] what it declares, as in Simpkv::Access::Declarations
  # @raise [Simpkv::InvalidError]
  def declaration(resource)
    data = { resource.section => { resource[:name] => resource.declared } }
    declarations = Simpkv::Access::Declarations.new(data, site.case_sensitive?)
    declarations.valid!.public_send(resource.section).fetch(resource[:name])
  end

  # @param resource [Puppet::Type]
  # @return [Array<Puppet::Type>] the resources before it: those that install the gem, manage the options, or have its
  #   password
  def before(resource)
    names = [resource.password_file, (Simpkv::SiteFile.find([Puppet[:confdir]]) if defined?(Simpkv::SiteFile))]
    index(:package).values_at('simpkv').compact + index(:file).values_at(*names.compact).compact
  rescue Simpkv::ConfigError
    []
  end

  private

  def site
    @site ||= Simpkv::SiteFile.load([Puppet[:confdir]]) do |site|
      Simpkv::Access::Site.new(site, Simpkv::Vardirs.of_puppet, ->(warning) { Puppet.warning("simpkv: #{warning}") })
    end
  end

  # @param state [Simpkv::Access::State::Snapshot] as it is
  # @return [Simpkv::Access::State::Snapshot] as it will be if all resources are applied
  def after_run(state)
    return state unless @catalog

    resources = @catalog.resources.select { |resource| resource.respond_to?(:section) }
    present, absent = %i[present absent].map do |wanted|
      resources.select { |resource| resource.should(:ensure) == wanted }
    end
    state.with(Simpkv::Access::Declarations.new(data(present), site.case_sensitive?))
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
