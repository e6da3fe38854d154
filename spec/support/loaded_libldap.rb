# frozen_string_literal: true

# For bin/test libldap_openssl: fails unless this process has loaded the libldap in the folder LIBLDAP and no other, and
# no GnuTLS.
RSpec.configure do |config|
  config.before(:suite) do
    require 'simpkv'
    loaded = File.read('/proc/self/maps').scan(%r{/\S+/lib(?:ldap|lber|ssl|gnutls)\b\S*}).uniq
    ours, others = loaded.partition { |file| File.dirname(file) == ENV.fetch('LIBLDAP') }
    names = ours.map { |file| File.basename(file)[/\A[a-z]+/] }
    raise "another libldap was loaded: #{loaded.join(', ')}" unless names.sort == %w[liblber libldap] &&
                                                                    others.all? { |file| file.include?('/libssl') }

    puts "Loaded: #{loaded.join(', ')}"
  end
end
