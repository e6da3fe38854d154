# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Returns a secret, which it makes at the first call, in the form that a program wants
#
# A secret is a password, bytes, a key or a certificate. The first call for a key makes it, at random, and stores it.
# All later calls return the same secret, in every catalog and on every compiler. Of several calls at the same moment,
# the first one stores its secret, and all return that one.
#
# With `format`, the function returns the secret in the form that a program wants, such as a salted hash for
# /etc/shadow. Each form is made once, and stored beside the secret, so that it is the same in each run. When somebody
# stores another secret under the key, its forms are made anew. A secret and a form that exist are only read: this works
# while the server of `write_uri` is down.
#
# The key is an ordinary one: `simpkv::get` reads the secret as its value. The metadata of the key have the kind, the
# parts and the forms, in a Sensitive. The function also returns a text that `simpkv::put` or `simpkv put` has stored.
#
# Nothing is made where nothing may be stored: on a node that runs in noop mode with the option `noop_writes` skip, in
# `puppet lookup --compile`, and in unit tests with `simpkv/rspec`. There the function returns a placeholder for a
# missing secret, a text that begins with `!simpkv-placeholder!`. A placeholder is never stored or exported. An agent
# that does not run in noop mode refuses a catalog that has one.
Puppet::Functions.create_function(:'simpkv::secret', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param key
  #   A path such as `app1/db`, as for `simpkv::put`. For the secret of one node use `$trusted['certname']` in it: a
  #   node can forge its facts.
  # @param options
  #   Options of the secret, which have an effect when it is made, and options of this call, which take precedence over
  #   `simpkv::options` of Hiera.
  # @option options [Enum[password,bytes,ssh-ed25519,ssh-rsa,ssh-ecdsa,wireguard,x509]] 'kind' What to make. Default:
  #   password, or the kind of the secret that exists.
  # @option options [String] 'format' The form to return: plain, yescrypt, sha512-crypt, sha256-crypt, bcrypt,
  #   htpasswd-bcrypt, apr1, scram-sha-256, mysql_native_password, caching_sha2_password, ssha, base64 or hex. Default:
  #   plain, the secret itself.
  # @option options [Integer] 'cost' The cost of the format. Default: docs/secrets.md has a table.
  # @option options [String] 'part' The part to return of a key or certificate: private, public, fingerprint,
  #   certificate, chain, serial, not_before, not_after, and of a CA crl, its revocation list. Default: private.
  # @option options [Integer[1,1024]] 'length' The number of characters of a password, or of bytes. Default: 24, or 32.
  # @option options [Enum[alphanumeric,readable,safe,symbols,digits,hex]] 'alphabet' The characters of a password.
  #   Default: alphanumeric.
  # @option options [Hash[Enum[digits,upper,lower,special],Integer]] 'at_least' How many characters of a class a
  #   password has at least. Default: none.
  # @option options [Integer] 'words' Makes a passphrase of that many words. Default: a password of characters.
  # @option options [String] 'separator' Between words. Default: `-`.
  # @option options [Integer] 'minimum_bits' The entropy that a password must have. Default: 80.
  # @option options [String] 'comment' Of an SSH key. Default: none.
  # @option options [Enum[nistp256,nistp384,nistp521]] 'curve' Of the kind ssh-ecdsa. Default: nistp256.
  # @option options [Integer[2048,8192]] 'bits' Of an RSA key. Default: 3072.
  # @option options [Hash[Enum[CN,O,OU,C,ST,L],String]] 'subject' Of a certificate.
  # @option options [Array[String]] 'names' Of a certificate: host names and addresses beside the CN.
  # @option options [Integer[1,36500]] 'days' Of a certificate, which is replaced in the last third of them. Default:
  #   365, of a CA 3650.
  # @option options [Enum[ec,rsa]] 'key_type' Of a certificate. Default: ec.
  # @option options [Boolean] 'ca' True: the certificate is that of a CA. Default: false.
  # @option options [String] 'issuer' The key of the CA that signs a certificate. Default: it signs itself.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the key belongs to all environments. Default: false.
  # @option options [Variant[Integer,String]] 'expires_after' The time after which another secret is made: seconds, or a
  #   number with `s`, `m`, `h`, `d` or `y`, such as `90d`. Default: the secret does not expire.
  # @option options [Integer[0,100]] 'history' The number of earlier secrets that the key keeps, 1 at least after a
  #   secret has expired. Default: the option `history` of the backend.
  # @option options [Integer[-100,0]] 'version' The secret to read: 0 is the current one, -1 the one before it. Default:
  #   0.
  # @option options [Enum[write,skip]] 'noop_writes' For a node that runs in noop mode: `write` makes and stores a
  #   missing secret, `skip` returns a placeholder. Default: write.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @return [Optional[Sensitive]] the secret, a String or, for the kind bytes, a Binary; with `softfail`, `undef` if the
  #   backend failed
  # @raise ArgumentError if the key, the configuration or an option of the secret is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, or the key holds a secret of another kind, unless `softfail` is set
  # @example A password, made at the first call
  #   $password = simpkv::secret('app1/db')
  # @example The same password as a hash for /etc/shadow
  #   user { 'app1':
  #     password => simpkv::secret('app1/db', { 'format' => 'yescrypt' }),
  #   }
  # @example A certificate of a CA of the site
  #   $tls = { 'kind' => 'x509', 'subject' => { 'CN' => $trusted['certname'] }, 'issuer' => 'ca/site' }
  #   file { '/etc/ssl/private/web.pem':
  #     mode    => '0600',
  #     content => simpkv::secret("hosts/${trusted['certname']}/tls", $tls),
  #   }
  #   file { '/etc/ssl/web.pem':
  #     content => simpkv::secret("hosts/${trusted['certname']}/tls", $tls + { 'part' => 'certificate' }),
  #   }
  # @example An SSH host key
  #   file { '/etc/ssh/ssh_host_ed25519_key':
  #     mode    => '0600',
  #     content => simpkv::secret("hosts/${trusted['certname']}/ssh", { 'kind' => 'ssh-ed25519' }),
  #   }
  dispatch :secret do
    scope_param
    param 'String[1]', :key
    optional_param 'Hash', :options
    return_type 'Optional[Sensitive]'
  end

  def secret(scope, key, options = {})
    calls = (adapter_of(scope) || load_adapter(scope, key)).calls
    calls.secret(self, scope, key, options).tap { guard(scope) if calls.placeholder? }
  end

  # The resource stops an agent that would apply the placeholder.
  def guard(scope)
    compiler = scope.compiler if scope.is_a?(Puppet::Parser::Scope)
    return unless compiler.respond_to?(:add_resource) && compiler.catalog.resource('Simpkv_placeholder', 'simpkv').nil?

    resource = Puppet::Parser::Resource.new('simpkv_placeholder', 'simpkv', scope: scope, source: scope.source)
    compiler.add_resource(scope, resource)
  end
end
