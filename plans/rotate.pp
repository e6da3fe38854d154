# @summary Rotates a value: stores a new one, runs the agents that need it, then ends the old one
#
# The old value stays as version -1 until every agent has run, so that services can accept both, as in
# docs/rotation.md. If a step before the fifth fails, the plan stops, and both values stay. The same command with
# `resume=true` then goes on with the agents. If the fifth fails, run the agents that the message names.
#
# 1. The target `store` makes a random value, which nobody sees, and stores it. The old one becomes version -1.
# 2. The agents of `services` run. Their manifests accept the current value and version -1.
# 3. The agents of `clients` run, and use the new value.
# 4. The target `store` forgets version -1.
# 5. The agents of `services` run again, and accept the new value only.
#
# @example A password of a database and of its clients
#   bolt plan run simpkv::rotate store=puppet.example.com key=app1/db_password services=db1 clients=web1,web2
#
# @param store
#   The target with the command `simpkv` and the right to write the key.
# @param key
#   The key, which exists.
# @param services
#   The nodes that accept the value.
# @param clients
#   The nodes that use it.
# @param length
#   The number of letters and digits of the new value.
# @param sensitive
#   True: manifests get the value as Sensitive; false: they do not; without it, as they got the old value.
# @param expires_after
#   The new value expires after that time. A value that expires needs it.
# @param resume
#   True: stores no new value, and finishes a rotation that stopped.
# @param environment
#   The environment of the key; without it, production.
# @param global
#   True: the key belongs to all environments.
# @param backend
#   The name of its backend, if not the default one.
# @param agent
#   The command that runs an agent. It must succeed after a run with changes.
# @return [Hash] the key, and the numbers of nodes that have run
plan simpkv::rotate(
  TargetSpec          $store,
  String[1]           $key,
  TargetSpec          $services,
  TargetSpec          $clients       = [],
  Integer[8, 1000]    $length        = 32,
  Optional[Boolean]   $sensitive     = undef,
  Optional[String[1]] $expires_after = undef,
  Boolean             $resume        = false,
  Optional[String[1]] $environment   = undef,
  Boolean             $global        = false,
  Optional[String[1]] $backend       = undef,
  String[1]           $agent         = 'PATH=$PATH:/opt/puppetlabs/bin; puppet agent --test; case $? in 0|2) ;; *) exit 1 ;; esac',
) {
  $place = { 'key' => $key, 'environment' => $environment, 'global' => $global, 'backend' => $backend }
  $found = get_targets($store)
  unless $found.length == 1 {
    fail_plan('store must be one target', 'simpkv/usage')
  }
  if get_targets($services).empty {
    fail_plan('services has no target: nobody would accept the new value', 'simpkv/usage')
  }

  $current = run_task('simpkv::stat', $found, "Look at ${key}", $place).first
  $unfinished = $current['earlier'] > 0

  if $resume and !$unfinished {
    fail_plan("'${key}' has no earlier value: there is no rotation to resume", 'simpkv/usage')
  }
  if !$resume and $unfinished {
    fail_plan("'${key}' has an earlier value: finish its rotation with resume=true, or remove it with simpkv::forget",
      'simpkv/unfinished')
  }
  if !$resume and !$current['text'] {
    fail_plan("the value of '${key}' is not text: random letters and digits cannot replace it", 'simpkv/usage')
  }
  if !$resume and $current['expires'] and !$expires_after {
    fail_plan("'${key}' expires: say with expires_after when the new value does", 'simpkv/usage')
  }

  unless $resume {
    # Another plan may have stored a value since: the old one, which clients use, would be lost.
    $put = run_task('simpkv::put', $found, "Store a new value of ${key}", $place + {
        'generate'       => $length,
        'sensitive'      => $sensitive,
        'keep_metadata'  => true,
        'history'        => 1,
        'expires_after'  => $expires_after,
        'unless_earlier' => true,
        '_catch_errors'  => true,
    }).first
    unless $put.ok {
      fail_plan($put.error)
    }
  }

  [['services', $services], ['clients', $clients]].each |$group| {
    $runs = run_command($agent, $group[1], "Run the agents of the ${group[0]}", { '_catch_errors' => true })
    unless $runs.ok {
      $names = $runs.error_set.names
      fail_plan("the agents of ${group[0]} failed on ${names.join(', ')}: '${key}' keeps both values. Correct that, and \
run the plan with resume=true", 'simpkv/unfinished', { 'step' => $group[0], 'targets' => $names })
    }
  }

  run_task('simpkv::forget', $found, "Remove the old value of ${key}", $place)
  $last = run_command($agent, $services, 'Run the agents of the services again', { '_catch_errors' => true })
  unless $last.ok {
    $names = $last.error_set.names
    fail_plan("the old value of '${key}' is removed, but ${names.join(', ')} may still accept it: run their agents",
      'simpkv/unfinished', { 'step' => 'end', 'targets' => $names })
  }

  return({ 'key' => $key, 'services' => get_targets($services).length, 'clients' => get_targets($clients).length })
}
