# @summary Runs `simpkv serve`, the HTTP API of a store
#
# Installs the service as the class simpkv installs the gem, with a user and a unit of systemd of its own, and runs it.
# The unit is that of examples/service: the service may read its configuration and its store, and little else. Its
# options are the parameter `server` of the class simpkv, `simpkv::server` in Hiera.
#
# @example The service on a puppetserver, for Prometheus on the same machine
#   class { 'simpkv':
#     puppetserver => true,
#     server       => {
#       'bind'   => ['unix:///run/simpkv/simpkv.sock'],
#       'rights' => [{ 'user' => 'prometheus', 'methods' => ['GET'], 'paths' => ['/metrics'] }],
#     },
#   }
#   include simpkv::server
#
# @param packages
#   With `install_from: distribution` of the class simpkv: the packages, which bring a unit and its user. The class then
#   sets the groups, the folders and the limit of memory in a drop-in of the unit. Default: `simpkv-server`.
# @param build_packages
#   With `install_from: gem` of the class simpkv: the packages that the gem needs beside `simpkv::build_packages`, by the
#   family of the system. Default: those of docs/service.md.
# @param gem_source
#   A registry, or a file of the gem simpkv-server.
# @param user
#   The user of the service, which is not root. Packages of the distribution have the user `simpkv`.
# @param manage_user
#   True: the class makes the user and a group of the same name, with the home `/nonexistent` and without a shell.
#   False: the class leaves the user as it is. Then the service runs in the primary group of the user, which must not be
#   root's, and a User in the catalog needs `before => Class['simpkv::server']`. Default: true for the user `simpkv`,
#   else false. Packages of the distribution make the user in any case.
# @param groups
#   Further groups of the service. Default: the group of the files of the class simpkv, which the service must read.
# @param command
#   The program. Default: the one of the gem. Packages of the distribution have their own.
# @param read_write_paths
#   The folders of a store in files, and of an audit log. Those that do not exist are left out.
# @param memory_max
#   The limit of the unit.
# @param manage_service
#   False: the class installs and configures the service, and something else runs it.
# @param service_ensure
#   Whether it runs.
# @param service_enable
#   Whether it starts with the machine.
class simpkv::server (
  Array[String[1]]                  $packages,
  Hash[String[1], Array[String[1]]] $build_packages,
  Optional[String[1]]               $gem_source       = undef,
  Simpkv::Service_user              $user             = 'simpkv',
  Boolean                           $manage_user      = $user == 'simpkv',
  Optional[Array[Simpkv::Account]]  $groups           = undef,
  Optional[Simpkv::Unit_path]       $command          = undef,
  Array[Simpkv::Unit_path]          $read_write_paths = ['/var/simp/simpkv', '/var/log/simpkv'],
  Pattern[/\A\d+[KMGT]?\z/]         $memory_max       = '1G',
  Boolean                           $manage_service   = true,
  Enum['running', 'stopped']        $service_ensure   = 'running',
  Boolean                           $service_enable   = true,
) {
  include simpkv

  $all_groups = $groups ? {
    undef   => [$simpkv::file_group],
    default => $groups,
  }
  if 'root' in $all_groups {
    fail("simpkv::server: the service would be in the group 'root': set 'simpkv::group' to a group that may read the \
configuration, such as 'puppet', or 'simpkv::server::groups'")
  }

  $program = $command ? {
    undef   => $simpkv::install::command,
    default => $command,
  }

  # systemd splits the lines of a unit at spaces, and expands %.
  $words = ([$program] + $read_write_paths.map |$path| { "-${path}" }).map |$path| {
    $plain = regsubst($path, '%', '%%', 'G')
    if ' ' in $plain { "\"${plain}\"" } else { $plain }
  }
  $limits = {
    'groups'           => $all_groups.join(' '),
    'read_write_paths' => $words[1, -1].join(' '),
    'memory_max'       => $memory_max,
  }

  if $simpkv::install_from == 'distribution' {
    if $user != 'simpkv' or $command {
      fail("simpkv::server: the packages of the distribution bring the user 'simpkv' and the program: leave out 'user' and \
'command', or install the gem ('simpkv::install_from')")
    }
    $unit = '/etc/systemd/system/simpkv.service.d/puppet.conf'
    file { '/etc/systemd/system/simpkv.service.d':
      ensure => directory,
      owner  => 'root',
      group  => 'root',
      mode   => '0755',
    }
    file { $unit:
      ensure  => file,
      owner   => 'root',
      group   => 'root',
      mode    => '0644',
      content => epp('simpkv/simpkv.service.d.epp', $limits),
    }
    $installed = $packages.map |$name| { Package[$name] }
    package { $packages:
      ensure  => $simpkv::ensure,
      require => Class['simpkv::install'],
    }
  } else {
    $installed = $simpkv::install_from ? {
      'gem'   => [Package['simpkv-server']],
      default => [],
    }
    if $simpkv::install_from == 'gem' {
      $needed = $build_packages.get($facts['os']['family'], [])
      $needed.each |$name| {
        unless defined(Package[$name]) {
          package { $name:
            ensure => installed,
          }
        }
      }
      $build = $needed.map |$name| { Package[$name] }
      package { 'simpkv-server':
        ensure          => $simpkv::ensure,
        provider        => $simpkv::install::gem_provider,
        source          => $gem_source,
        install_options => $simpkv::gem_install_options,
        *               => { $simpkv::install::relation => [Class['simpkv::install']] + $build },
      }
    }

    $unit = '/etc/systemd/system/simpkv.service'
    if $manage_user {
      group { $user:
        ensure => present,
        system => true,
      }
      user { $user:
        ensure     => present,
        system     => true,
        gid        => $user,
        home       => '/nonexistent',
        shell      => '/usr/sbin/nologin',
        managehome => false,
        before     => File[$unit],
      }
    }

    $primary_group = $manage_user ? {
      true    => $user,
      default => undef,
    }
    file { $unit:
      ensure  => file,
      owner   => 'root',
      group   => 'root',
      mode    => '0644',
      content => epp('simpkv/simpkv.service.epp', $limits + {
        'user'    => $user,
        'group'   => $primary_group,
        'command' => $words[0],
      }),
    }
  }

  if $manage_service {
    service { 'simpkv':
      ensure    => $service_ensure,
      enable    => $service_enable,
      require   => $installed,
      subscribe => [Class['simpkv'], File[$unit]],
    }
  }
}
