# @summary Installs what the class simpkv needs
#
# @api private
class simpkv::install {
  $packaged = $facts['aio_agent_version'] =~ NotUndef
  [$gem_provider, $command] = $packaged ? {
    true    => ['puppet_gem', '/opt/puppetlabs/puppet/bin/simpkv'],
    default => ['gem', '/usr/local/bin/simpkv'],
  }

  # RubyGems does not remove a gem that another one needs.
  $relation = $simpkv::ensure ? {
    'absent' => 'before',
    default  => 'require',
  }

  case $simpkv::install_from {
    'gem': {
      # Puppet's own packages have the headers of their Ruby.
      $of_family = $simpkv::build_packages.get($facts['os']['family'], [])
      $needed = $of_family.filter |$name| { !($packaged and $name =~ /\Aruby-/) }
      $needed.each |$name| {
        unless defined(Package[$name]) {
          package { $name:
            ensure => installed,
          }
        }
      }

      package { 'simpkv':
        ensure          => $simpkv::ensure,
        provider        => $gem_provider,
        source          => $simpkv::gem_source,
        install_options => $simpkv::gem_install_options,
        require         => $needed.map |$name| { Package[$name] },
      }

      $sources = $simpkv::puppetserver ? {
        true    => [$simpkv::gem_source, $simpkv::puppetserver_gem_source],
        default => [$simpkv::gem_source],
      }
      $lacking = $simpkv::gems.filter |$name, $source| { $source =~ Undef }
      if $sources.any |$source| { $source =~ Pattern[/\.gem\z/] } and !empty($lacking) {
        fail("simpkv: the gem comes from a file, so name the files of ${lacking.keys.join(', ')} in 'gems', or leave \
them out there")
      }
      $simpkv::gems.reduce('simpkv') |$before, $gem| {
        package { $gem[0]:
          ensure          => $simpkv::ensure,
          provider        => $gem_provider,
          source          => $gem[1].lest || { $simpkv::gem_source },
          install_options => $simpkv::gem_install_options,
          *               => { $relation => Package[$before] },
        }
        $gem[0]
      }

      if $simpkv::puppetserver {
        package { 'simpkv for puppetserver':
          ensure   => $simpkv::ensure,
          name     => 'simpkv',
          provider => 'puppetserver_gem',
          source   => $simpkv::puppetserver_gem_source,
          require  => $needed.map |$name| { Package[$name] },
        }
        $simpkv::gems.reduce('simpkv') |$before, $gem| {
          $source = $gem[1].lest || { $simpkv::puppetserver_gem_source }
          # Without --local, RubyGems would ask a registry about the gems that a file needs.
          $local = $source ? {
            Pattern[/\.gem\z/] => ['--local'],
            default            => undef,
          }
          package { "${gem[0]} for puppetserver":
            ensure          => $simpkv::ensure,
            name            => $gem[0],
            provider        => 'puppetserver_gem',
            source          => $source,
            install_options => $local,
            *               => { $relation => Package["${before} for puppetserver"] },
          }
          $gem[0]
        }
      }
    }
    'distribution': {
      $more = $simpkv::puppetserver ? {
        true    => $simpkv::puppetserver_packages,
        default => [],
      }
      package { unique($simpkv::packages + $more):
        ensure => $simpkv::ensure,
      }
    }
    default: {}
  }
}
