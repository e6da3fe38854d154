# frozen_string_literal: true

# Keeps keys in an LDAP directory, below an entry that is there already. Simpkv::Store does the work, over connections
# that outlive the catalog; see plugin_template.rb for what the adapter asks of a plugin.
plugin_class = Class.new do # rubocop:disable Lint/UselessAssignment
  include Simpkv::PluginOperations

  # Opens the store, and looks whether its base entry can be read, so that what is wrong with server, password, rights
  # or base DN is said once and in full.
  def configure(options)
    open_store do
      @settings = settings_from(options, 'ldap')
      problem = Simpkv::LdapAccess.problem(@settings)
      raise Simpkv::InvalidError, problem if problem

      Simpkv::LdapAccess.warnings(@settings).each { |warning| Puppet.warning("simpkv #{name}: #{warning}") }
      store = Simpkv::Store.open('ldap', @settings.reject { |name, _| %w[type case_sensitive].include?(name) })
      check_access(store)
      store
    end
  end

  private

  def check_access(store)
    return if store.exist?('')

    identity = @settings['admin_pw_file'] ? "'#{@settings['admin_dn']}'" : 'the local user'
    no_access(Simpkv::NotFoundError,
              "there is no such entry at #{@settings['ldap_uri']}, or no access to it: make it (schema/base.ldif of " \
              "simpkv does), give #{identity} rights, or correct 'base_dn'")
  rescue Simpkv::Error => e
    raise if e.message.start_with?('Plugin could not access')

    no_access(e.class, e.message)
  end

  def no_access(error, why)
    raise error, "Plugin could not access #{@settings['base_dn']}: #{with_command(why)}"
  end

  # Trouble with the server, unlike a missing key, can be looked into by hand.
  def explain(error)
    case error
    when Simpkv::DeniedError, Simpkv::UnavailableError, Simpkv::TimeoutError then with_command(error.message)
    else error.message
    end
  end

  def with_command(why)
    "#{why.chomp('.')}. To ask outside of Puppet: #{Simpkv::LdapAccess.command(@settings)}"
  end
end
