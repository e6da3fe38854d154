# frozen_string_literal: true

# Keeps keys in an LDAP directory, below an existing entry, in a Simpkv::Store whose connections outlive the catalog.
# plugin_template.rb describes plugins.
plugin_class = Class.new do # rubocop:disable Lint/UselessAssignment
  include Simpkv::Adapter::PluginMethods

  # Opens the store and reads its base entry, so that a problem with server, password or base DN has one complete
  # message. The entry may be hidden.
  def configure(options)
    open_store do
      @settings = settings_from(options, 'ldap')
      store = Simpkv::LdapAccess.open(@settings)
      Simpkv::LdapAccess.warnings(@settings).each { |warning| Puppet.warning("simpkv #{name}: #{warning}") }
      check_access(store)
      store
    end
  end

  # Adds the command that asks the server outside of Puppet, unless the server has given a reason, or the file of keys
  # is to blame.
  def explain(error)
    return error.message if error.message.include?("'encryption_keys'")

    case error
    when Simpkv::DeniedError, Simpkv::UnavailableError, Simpkv::TimeoutError then with_command(error.message)
    else error.message
    end
  end

  private

  def check_access(store)
    base = Simpkv::LdapAccess.base(store)
  rescue Simpkv::Error => e
    no_access(e.class, e.message)
  else
    no_access(Simpkv::NotFoundError, no_such_entry) if base == :missing
  end

  def no_such_entry
    identity = @settings['admin_pw_file'] ? "'#{@settings['admin_dn']}'" : 'the local user'
    "there is no such entry at #{@settings['ldap_uri']}, or no access to it: make it (schema/base.ldif of simpkv " \
      "does), give #{identity} rights, or correct 'base_dn'"
  end

  def no_access(error, why)
    raise error, "Plugin could not access #{@settings['base_dn']}: #{with_command(why)}"
  end

  def with_command(why)
    "#{why.chomp('.')}. To ask outside of Puppet: #{Simpkv::LdapAccess.command(@settings)}"
  end
end
