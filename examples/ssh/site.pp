# Users whose authorized SSH keys are in the store, each in a folder of ssh/. `simpkv ssh import` fills the folders
# (docs/ssh-keys.md).

# Felix logs in with the keys of ssh/felix, and with no others.
user { 'felix':
  ensure     => present,
  managehome => true,
}
simpkv::authorized_keys { 'felix':
  purge => true,
}

# Felix and Anna log in to a shared account.
user { 'deploy':
  ensure     => present,
  managehome => true,
}
['felix', 'anna'].each |$name| {
  simpkv::authorized_keys { "deploy-${name}":
    user   => 'deploy',
    folder => "ssh/${name}",
    purge  => true,
  }
}

# Keys for root that all environments share. A key that is in the file and not in the store stays, so that a mistake
# locks nobody out. Set 'purge' when 'simpkv ssh list -g ssh/root' shows all keys that are needed.
simpkv::authorized_keys { 'root':
  simpkv_options => { 'global' => true },
}
