# frozen_string_literal: true

# The common part of the providers of simpkv_user, simpkv_role and simpkv_role_binding.
#
# The value of this file is the module.
Module.new do
  class_methods = Module.new do
    # @return [Array<Puppet::Provider>] what is declared in the store
    def instances
      access = resource_type.access(nil)
      access.session.state[resource_type.section].keys.map { |name| new(name: name, access: access) }
    end
  end
  define_singleton_method(:included) { |provider| provider.extend(class_methods) }

  # @return [Boolean]
  # @raise [Simpkv::Error, Simpkv::ConfigError] it cannot be determined, or somebody else has made its entry
  def exists?
    session.check(*object)
    resource.should(:ensure) == :absent ? session.known?(*object) : session.present?(*object)
  end

  # @return [Object] what is declared in the store, as in Simpkv::Access::Declarations
  def stored
    session.declaration(*object)
  end

  # @return [Object] what the resource declares, in the same form
  # @raise [Simpkv::InvalidError]
  def wanted
    access.declaration(resource)
  end

  # @return [Array<String>] what there is to do in the directory for what is declared in the store
  def drift
    steps = session.drift(*object)
    # A password that cannot be read is one each time.
    warn_of_object if resource.section == 'users'
    lines(steps)
  end

  # Stores the declaration, and brings the directory to it. The first property that is changed does it for all.
  def declare
    return if @done

    change { session.declare(*object, wanted) }
    warn_of_object unless resource.section == 'users'
  end

  def destroy
    change { session.remove(*object) }
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

  def session
    access.session
  end

  def object
    [resource.section, resource[:name]]
  end

  def warn_of_object
    session.warnings(*object).each { |warning| resource.warning(warning) }
  end

  def change
    @done = yield
    by_hand(@done).each { |step| resource.warning(Simpkv::Access::StepText.lines(step).join("\n")) }
  rescue Simpkv::Access::Refused => e
    session.check(*object)
    resource.fail("nothing is changed: #{e.message}")
  end

  def by_hand(steps)
    steps.select { |step| step.act == 'rules' && step.data[:by_hand] }
  end

  def lines(steps)
    (steps.to_a - by_hand(steps.to_a)).flat_map { |step| Simpkv::Access::StepText.lines(step) } +
      by_hand(steps.to_a).map { 'rules that an administrator has to change' }
  end
end
