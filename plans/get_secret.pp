# @summary Returns a secret, which the target makes at the first call, in the form that a program wants
#
# Plans get the same secret as manifests do with the function `simpkv::secret`.
#
# @example A password for a command of the plan
#   $result = run_plan('simpkv::get_secret', 'store' => 'puppet.example.com', 'key' => 'app1/db')
#   $password = $result['_sensitive'].unwrap['secret']
#
# @param store
#   The target with the command `simpkv` and the right to write the key.
# @param key
#   The key, such as app1/db.
# @param format
#   The form to return, such as yescrypt. Default: the secret itself.
# @param kind
#   What to make. Default: password, or the kind of the secret that exists.
# @param part
#   The part to return of a key or certificate, such as public.
# @param environment
#   The environment of the key; without it, production.
# @param global
#   True: the key belongs to all environments.
# @param backend
#   The name of its backend, if not the default one.
# @return [Result] that of the task: its `_sensitive` has the `secret`, text; bytes are in Base64. Bolt prints nothing
#   of it, and a plan cannot return a Sensitive itself
plan simpkv::get_secret(
  TargetSpec          $store,
  String[1]           $key,
  Optional[String[1]] $format      = undef,
  Optional[String[1]] $kind        = undef,
  Optional[String[1]] $part        = undef,
  Optional[String[1]] $environment = undef,
  Boolean             $global      = false,
  Optional[String[1]] $backend     = undef,
) {
  $found = get_targets($store)
  unless $found.length == 1 {
    fail_plan('store must be one target', 'simpkv/usage')
  }
  return(run_task('simpkv::secret', $found, "Get the secret ${key}", {
      'key'         => $key,
      'format'      => $format,
      'kind'        => $kind,
      'part'        => $part,
      'environment' => $environment,
      'global'      => $global,
      'backend'     => $backend,
  }).first)
}
