# frozen_string_literal: true

# The common part of the types simpkv_user, simpkv_role and simpkv_role_binding. A type defines `section`, the section
# of the declarations that it belongs to. The module has the properties `declared_property`, `directory_property` and
# `ensure_property`.
#
# The value of this file is the module.
Module.new do
  common = PuppetX::Simpkv.part(__FILE__, 'resource_type')

  # What is declared in the store.
  declared_property = Module.new do
    def retrieve
      stored(provider.stored)
    end

    # Compares both sides in the form of the store.
    def insync?(_current)
      stored(provider.wanted) == stored(provider.stored)
    end

    def set(_value)
      provider.declare
    end

    # @param declaration [Hash]
    # @return [Object] this property of it
    def stored(declaration)
      declaration&.fetch(name.to_s)
    end
  end

  # The property `directory`: what somebody has changed by hand.
  directory_property = Module.new do
    def retrieve
      drift = provider.drift
      drift.empty? ? :in_sync : "needs: #{drift.join('; ')}"
    end

    def insync?(current)
      current == :in_sync
    end

    def set(_value)
      provider.declare
    end

    # With noop, there is no outcome.
    def change_to_s(current, _wanted)
      provider.outcome || current
    end
  end

  # Messages of `ensure` say what was done.
  ensure_property = Module.new do
    def change_to_s(current, wanted)
      [super, provider.outcome].compact.join(': ')
    end
  end

  class_methods = Module.new do
    # @param catalog [Puppet::Resource::Catalog, nil] nil for `puppet resource`
    # @return [Simpkv::Resources::AccessCatalog] the resources of the catalog
    def access(catalog)
      check_gem
      type = Simpkv::Gems.demand('resources', 'access_catalog', "the type #{name}")
      made = catalog&.instance_variable_get(:@simpkv_access) || type.new(catalog)
      catalog&.instance_variable_set(:@simpkv_access, made)
      made
    end
  end

  include common

  define_singleton_method(:declared_property) { declared_property }
  define_singleton_method(:directory_property) { directory_property }
  define_singleton_method(:ensure_property) { ensure_property }

  define_singleton_method(:included) do |type|
    common.included(type)
    type.extend(class_methods)
    type.autorequire(:simpkv_user) { required }
  end

  # A default (`defaultto`) would have an effect in the resources of `puppet resource` as well.
  def initialize(resource)
    super
    self[:ensure] = :present if should(:ensure).nil? && declared.any?
    check_declaration if should(:ensure) == :present
  end

  # Nothing to check: Puppet refuses a catalog with two resources of one name.
  def pre_run_check; end

  # @return [String] `users`, `roles` or `bindings`
  def section
    self.class.section
  end

  # @return [String, nil] the file with the password of a user
  def password_file; end

  # @return [Array<Puppet::Type>] the resources before this one
  def required
    parts? ? self.class.access(catalog).before(self) : packages
  end

  private

  # @return [Boolean] whether both gems are there. If simpkv-access is still missing when the resource is evaluated, the
  # resource fails
  def check_declaration
    return unless parts?

    declarations = Simpkv::Gems.find('access', 'declarations')
    problem = declarations.new({ section => { self[:name] => declared } }, true).problems.first
    raise Puppet::Error, "#{ref}: #{in_manifest(problem)}" if problem
  end

  # @return [Boolean] whether both gems are there. Without the second one, which the run may install, the resource fails
  #   when it is evaluated
  def parts?
    return false unless gem?

    require 'simpkv/gems'
    return true if Simpkv::Gems.find('access', 'declarations')

    Gem.clear_paths
    !Simpkv::Gems.find('access', 'declarations').nil?
  end

  # @return [Array<String>] the names of the gems
  def gems
    %w[simpkv simpkv-estate simpkv-access]
  end

  # @param problem [String] with its place in a file
  # @return [String] with its place in the resource
  def in_manifest(problem)
    place = "#{section}.#{self[:name]}"
    problem.sub("#{place}[", 'grants[').sub(/\A(#{Regexp.escape(place)}|#{section})(\.|: )/, '')
  end
end
