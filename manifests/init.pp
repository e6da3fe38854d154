# @summary Installs simpkv, and writes its configuration
#
# Installs the gem or the packages of the distribution, and writes /etc/simpkv/simpkv.yaml, which the command, the
# service and Puppet's termini read. Without options and sections, it does not change that file. Functions work without
# this class. The class and the functions both use `simpkv::options` in Hiera, and so the same store.
#
# The class removes nothing that it does not manage: no keys, no files in /etc/simpkv, no versions of gems.
#
# @example The command on a machine, with the options that functions have
#   include simpkv
# @example A puppetserver that keeps the estate in a directory
#   class { 'simpkv':
#     puppetserver   => true,
#     options        => {
#       'backends' => {
#         'default' => {
#           'type'          => 'ldap',
#           'id'            => 'site',
#           'ldap_uri'      => 'ldaps://ldap1.example.com',
#           'admin_pw_file' => '/etc/simpkv/password',
#           'tls_cacert'    => '/etc/ssl/ca.pem',
#         },
#       },
#     },
#     estate         => { 'reports' => 10 },
#     password_files => Sensitive({ '/etc/simpkv/password' => lookup('site::simpkv_password') }),
#   }
#
# @param options
#   The options of the backends (docs/configuration.md). Default: `simpkv::options` in Hiera. To write the file, the
#   class needs `backends`.
# @param estate
#   The section `estate`: exported resources, facts, nodes and reports.
# @param access
#   The section `access`: users, roles and rights.
# @param server
#   The section `server`: `simpkv serve`. `simpkv::server` runs it.
# @param password_files
#   The files that `admin_pw_file` and other options name, with their contents. In Hiera, write a Hash of Strings; it
#   becomes Sensitive. No log or report shows the contents, but with `--debug` Puppet logs the values that Hiera finds.
# @param owner
#   The owner of the files.
# @param group
#   The group of the files. It must exist. Its members can read them. Default: `puppet` with `puppetserver`, else
#   `root`.
# @param config_mode
#   The mode of the file.
# @param password_mode
#   The mode of the files with passwords.
# @param install_from
#   `gem`: installs the gem from a registry, and compiles it on the machine. `distribution`: installs packages of the
#   system. `nothing`: installs nothing.
# @param ensure
#   The version, as for `ensure` of the type `package`.
# @param packages
#   With `distribution`: the packages of the gem and the command. Default: `simpkv`.
# @param build_packages
#   With `gem`: the packages that a build needs, by the family of the system. The class declares those that the catalog
#   does not have. Default: those of docs/install.md.
# @param gem_source
#   A registry, or a file of the gem, as `source` of the type `package`.
# @param gems
#   With `gem`: the gems to install beside `simpkv`, in this order, with their sources: a registry, or a file. Without a
#   source, a gem comes from the registry of `simpkv`. Default: `simpkv-operations`, `simpkv-estate` and
#   `simpkv-access`, of which `simpkv::server` needs the last two in any case. The class `simpkv::server` installs `simpkv-server`.
# @param gem_install_options
#   Further options of `gem install`.
# @param puppetserver
#   True: this machine compiles catalogs. Installs the gem for JRuby, too, and restarts puppetserver after each change of
#   the gem or of the configuration, which it reads when it starts.
# @param puppetserver_packages
#   With `distribution`: the packages for puppetserver. Default: `puppetserver-simpkv`.
# @param puppetserver_gem_source
#   A registry, or a file of the gem for JRuby.
# @param puppetserver_service
#   The unit of systemd to restart. It is not started if it does not run.
class simpkv (
  Array[String[1]]                                  $packages,
  Hash[String[1], Optional[String[1]]]              $gems,
  Hash[String[1], Array[String[1]]]                 $build_packages,
  Array[String[1]]                                  $puppetserver_packages,
  Hash[String[1], Any]                              $options                 = {},
  Hash[String[1], Any]                              $estate                  = {},
  Hash[String[1], Any]                              $access                  = {},
  Hash[String[1], Any]                              $server                  = {},
  Sensitive[Hash[Simpkv::Absolute_path, String[1]]] $password_files          = Sensitive({}),
  Boolean                                           $puppetserver            = false,
  String[1]                                         $owner                   = 'root',
  Optional[String[1]]                               $group                   = undef,
  Pattern[/\A0[0-7]{3}\z/]                          $config_mode             = '0640',
  Pattern[/\A0[0-7][0-7]0\z/]                       $password_mode           = '0640',
  Enum['gem', 'distribution', 'nothing']            $install_from            = 'gem',
  String[1]                                         $ensure                  = 'installed',
  Optional[String[1]]                               $gem_source              = undef,
  Array[String[1]]                                  $gem_install_options     = [],
  Optional[String[1]]                               $puppetserver_gem_source = undef,
  Pattern[/\A[\w@.-]+\z/]                           $puppetserver_service    = 'puppetserver',
) {
  $file_group = $group ? {
    undef   => $puppetserver ? { true => 'puppet', default => 'root' },
    default => $group,
  }
  $sections = { 'estate' => $estate, 'access' => $access, 'server' => $server }
  $content = $options + $sections.filter |$section| { !empty($section[1]) }

  contain simpkv::install

  file { '/etc/simpkv':
    ensure => directory,
    owner  => 'root',
    group  => 'root',
    mode   => '0755',
  }

  unless empty($content) {
    file { '/etc/simpkv/simpkv.yaml':
      ensure    => file,
      owner     => $owner,
      group     => $file_group,
      mode      => $config_mode,
      content   => simpkv::support::site_file($content),
      show_diff => false,
      backup    => false,
      require   => Class['simpkv::install'],
    }
  }

  # Puppet drops the limits of lengths inside a Sensitive.
  $password_files.unwrap.each |$path, String[1] $password| {
    file { $path:
      ensure    => file,
      owner     => $owner,
      group     => $file_group,
      mode      => $password_mode,
      content   => Sensitive($password),
      show_diff => false,
      backup    => false,
      require   => Class['simpkv::install'],
    }
  }

  if $puppetserver {
    $restarting = empty($content) ? {
      true    => [Class['simpkv::install']],
      default => [Class['simpkv::install'], File['/etc/simpkv/simpkv.yaml']],
    }
    exec { 'simpkv: restart puppetserver':
      command     => "systemctl try-restart ${puppetserver_service}.service",
      onlyif      => 'test -d /run/systemd/system',
      path        => ['/usr/bin', '/bin'],
      refreshonly => true,
      subscribe   => $restarting,
    }
  }
}
