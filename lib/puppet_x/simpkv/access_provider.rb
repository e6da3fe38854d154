# frozen_string_literal: true

# The common part of the providers of simpkv_user, simpkv_role and simpkv_role_binding.
#
# The value of this file is the module.
Module.new do
  class_methods = Module.new do
    # @return [Array<Puppet::Provider>] what is declared in the store
    def instances
      access = resource_type.access(nil)
      access.reconciler.reading.state[resource_type.section].keys.map { |name| new(name: name, access: access) }
    end
  end
  define_singleton_method(:included) { |provider| provider.extend(class_methods) }

  # @return [Boolean]
  # @raise [Simpkv::Error, Simpkv::ConfigError] it cannot be determined, or somebody else has made its entry
  def exists?
    reconciler.check(object)
    reading = reconciler.reading
    section, name = object
    resource.should(:ensure) == :absent ? reading.state[section].key?(name) : reading.present?(section, name)
  end

  # @return [Object] what is declared in the store, as in Simpkv::Access::Declarations
  def stored
    reconciler.reading.state.declaration(*object)
  end

  # @return [Object] what the resource declares, in the same form
  # @raise [Simpkv::InvalidError]
  def wanted
    access.declaration(resource)
  end

  # @return [Array<String>] what there is to do in the directory for what is declared in the store
  def drift
    part = reconciler.plan(only: object)
    # Each run warns about a password that cannot be read.
    warn_of(part) if resource.section == 'users'
    lines(part.steps)
  end

  # Stores the declaration, and changes the directory to match. The first changed property does this for all properties.
  def declare
    return if @done

    declaration = wanted
    part = change(->(state) { state.with_one(*object, declaration) })
    warn_of(part) unless resource.section == 'users'
  end

  def destroy
    change(->(state) { state.without_one(*object) })
  end

  # @return [String, nil] what was done
  def outcome
    lines(@done).join('; ') unless @done.to_a.empty?
  end

  # Puppet calls this after a change.
  def flush
    @done = nil
  end

  private

  # The instances of `puppet resource` share one reading of the directory.
  def access
    @access ||= (@property_hash[:access] unless resource.catalog) || resource.class.access(resource.catalog)
  end

  def reconciler
    access.reconciler
  end

  def object
    [resource.section, resource[:name]]
  end

  def warn_of(part)
    part.warnings.each { |warning| resource.warning(warning) }
  end

  # @return [Simpkv::Access::Part] without steps
  def change(declare)
    done = []
    part = reconciler.apply(declare, only: object) { |step| done << step }
    @done = done
    done.select(&:by_hand?).each { |step| resource.warning(step.lines.join("\n")) }
    part
  rescue Simpkv::Access::Refused => e
    reconciler.check(object)
    resource.fail("nothing is changed: #{e.message}")
  end

  def lines(steps)
    by_hand, others = steps.partition(&:by_hand?)
    others.flat_map(&:lines) + by_hand.map { 'rules that an administrator has to change' }
  end
end
