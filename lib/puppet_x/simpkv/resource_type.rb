# frozen_string_literal: true

# The common part of the types simpkv_key and simpkv_folder.
#
# The value of this file is the module.
Module.new do
  gem = PuppetX::Simpkv.part(__FILE__, 'gem_feature').new
  deferred = Puppet::Pops::Evaluator.const_get(:DeferredValue) if Puppet::Pops::Evaluator.const_defined?(:DeferredValue)
  late = %i[value metadata expires_after history]

  class_methods = Module.new do
    # @param catalog [Puppet::Resource::Catalog, nil] nil for `puppet resource`
    # @return [Simpkv::Resources::Catalog] the simpkv resources of the catalog
    # @raise [Puppet::Error] as {check_gem}
    def simpkv(catalog)
      check_gem unless defined?(Simpkv::Resources::Catalog)
      made = catalog&.instance_variable_get(:@simpkv_resources) || Simpkv::Resources::Catalog.new(catalog)
      catalog&.instance_variable_set(:@simpkv_resources, made)
      made
    end

    # Without this check and without the gem, Puppet would print nothing, as if there were no resources.
    def instances
      check_gem unless defaultprovider
      super
    end

    # @param value [Object] of the parameter `backend`
    # @raise [ArgumentError] it cannot be one
    def check_backend(value)
      return if (value.is_a?(String) && !value.empty?) || value.is_a?(Hash)

      raise ArgumentError, 'the backend must be a name, or a Hash with the options of a backend'
    end

    # @raise [Puppet::Error] the gem cannot be loaded; says how to install it
    define_method(:check_gem) do
      problem = gem.problem
      raise Puppet::Error, problem if problem
    end
  end
  define_singleton_method(:included) { |type| type.extend(class_methods) }

  # @return [Simpkv::Resources::Catalog] the simpkv resources of the catalog
  def simpkv
    @simpkv ||= self.class.simpkv(catalog)
  end

  # Puppet calls no `validate` if a parameter is Deferred.
  def initialize(resource)
    super
    refuse_deferred
  end

  # @return [Array<Puppet::Type>] the resources before this one
  def resources_before
    gem? ? simpkv.before(self) : packages
  end

  # @return [Array<Puppet::Type>] the resources after this one
  def resources_after
    gem? ? simpkv.after(self) : []
  end

  # If a resource is not suitable, Puppet evaluates it at the end, because other resources may install the gem. If it is
  # still not suitable, it fails with a message of its own instead of Puppet's.
  def suitable?
    return true if super || @asked

    @asked = true
    false
  end

  def retrieve
    self.class.check_gem unless gem?
    super
  end

  # Fails the run before anything is written.
  def pre_run_check
    check_others if place && gem?
  rescue Simpkv::InvalidError, Simpkv::TooLargeError => e
    raise Puppet::Error, "#{ref}: #{e.message}", cause: nil
  rescue Simpkv::Error, Simpkv::ConfigError, ArgumentError, SystemCallError
    nil # The resources fail when they are evaluated: the run may change the configuration before.
  end

  private

  # With `preprocess_deferred` false, as in Puppet 8, the result of a Deferred is unknown until the resource is
  # evaluated. The catalog is checked before, and the purge of a folder needs the places of all keys.
  define_method(:refuse_deferred) do
    name = (original_parameters.keys - late).find { |each| deferred && original_parameters[each].is_a?(deferred) }
    return unless name

    raise Puppet::Error, "#{ref}: '#{name}' cannot be Deferred, because it is needed before the catalog is applied: " \
                         'give a value, or set preprocess_deferred to true in puppet.conf'
  end

  # @return [Array<Puppet::Type>] those that install its gems, found by object: to find them by title, Puppet would load
  #   the type of packages, which takes seconds
  def packages
    catalog.resources.select { |resource| resource.type == :package && gems.include?(resource[:name].to_s) }
  end

  # @return [Array<String>] the names of the gems that the type needs
  def gems
    %w[simpkv]
  end

  def check_others
    other = simpkv.other(self)
    return unless other

    raise Puppet::Error, "#{ref} and #{other.ref} are the same #{type.to_s.delete_prefix('simpkv_')}: remove one of " \
                         'them'
  end

  # @param state [Symbol] what the resource wants its place to be: `:present`, `:absent` or `:protected`
  # @raise [Puppet::Error] a folder around it is absent
  def check_around(state)
    folder = simpkv.removed_around(self, state)
    raise Puppet::Error, "#{ref} is #{state}, but #{folder.ref} around it is absent: correct one of them" if folder
  end

  def gem?
    !self.class.defaultprovider.nil?
  end
end
