# @summary Manages the authorized SSH keys of a user, which are stored in a folder
#
# Declares an `ssh_authorized_key` of the module sshkeys_core for each key of the folder, with a provider of its own
# that writes the file. `simpkv ssh import` stores the keys of an existing file. The title of the resource, which stands
# in the file as well, is the comment of the key. The title is `<title>/<name of the key>` if the key has no comment, if
# another key of the catalog has the same comment, or if sshkeys_core would not read the comment back from the file.
#
# @example The keys of the folder ssh/felix, and no others
#   simpkv::authorized_keys { 'felix':
#     purge => true,
#   }
# @example A shared account
#   ['felix', 'anna'].each |$name| {
#     simpkv::authorized_keys { "deploy-${name}":
#       user   => 'deploy',
#       folder => "ssh/${name}",
#       purge  => true,
#     }
#   }
#
# @param user
#   The user whose keys they are. It must exist when the keys are written; a `user` of the catalog is managed before.
# @param folder
#   The folder with the keys. Folders in it are ignored.
# @param ensure
#   With `absent`, the keys of the folder are removed from the file, whatever their comments there.
# @param purge
#   True: removes the keys of the file which the catalog does not manage.
# @param allow_empty
#   True: the folder may be missing or empty. With `purge`, this removes all keys of the user. False: it is an error.
# @param target
#   The file, an absolute path. Default: `.ssh/authorized_keys` in the home folder of the user.
# @param central
#   True: `target` is in a folder that only root can write, such as `/etc/ssh/keys/felix` with sshd's option
#   `AuthorizedKeysFile /etc/ssh/keys/%u`. The file belongs to root, with mode 0644, because sshd reads it as the user. The
#   folder must exist.
# @param simpkv_options
#   The options of `simpkv::list`.
define simpkv::authorized_keys (
  String[1]                     $user           = $title,
  String[1]                     $folder         = "ssh/${title}",
  Enum['present', 'absent']     $ensure         = 'present',
  Boolean                       $purge          = false,
  Boolean                       $allow_empty    = false,
  Optional[Pattern[/\A\/[^\n]+\z/]] $target     = undef,
  Boolean                       $central        = false,
  Hash                          $simpkv_options = {},
) {
  if $central and !$target {
    fail("Simpkv::Authorized_keys[${title}]: 'central' needs 'target', the file in a folder of root")
  }

  $may_be_empty = $allow_empty or $ensure == 'absent'
  $missing = if $may_be_empty { 'empty' } else { 'fail' }
  $read_all = { 'missing' => $missing, 'sensitive' => false, 'skip_undecodable' => false }
  $listed = simpkv::list($folder, $simpkv_options + $read_all)

  # The backend has failed, and softfail is set. Nothing is purged, because that would remove all keys.
  if $listed =~ NotUndef {
    if empty($listed['keys']) and !$may_be_empty {
      fail("Simpkv::Authorized_keys[${title}]: the folder '${folder}' has no keys. Store them, or set 'allow_empty' if \
the user shall have none")
    }

    $keys = $listed['keys'].map |$name, $entry| {
      $key = $entry['value']
      unless $key =~ Simpkv::Authorized_key {
        fail("Simpkv::Authorized_keys[${title}]: '${folder}/${name}' is not a key that the module sshkeys_core can \
manage: a Hash of 'type', 'key', 'options' (NAME or NAME=\"VALUE\") and 'comment' (see Simpkv::Authorized_key)")
      }
      $defaults = { 'name' => $name, 'options' => [], 'comment' => '' }
      $defaults + $key
    }

    $removed = if $ensure == 'absent' { $keys.map |$key| { $key['key'] } } else { [] }
    # The comments of several keys, in lower case: Puppet compares without regard to case.
    $comments = $keys.map |$number, $key| { [downcase($key['comment']), $number] }
    $last = Hash($comments)
    $repeated = Hash($comments.filter |$pair| { $last[$pair[0]] != $pair[1] })
    $keys.each |$key| {
      $comment = $key['comment']
      # Excludes the titles of keys without a comment, and what sshkeys_core would take for the type of a key.
      $readable = $comment =~ /\A[^[:cntrl:][:space:]]([^[:cntrl:]]*[^[:cntrl:][:space:]])?\z/ and !(
        $comment =~ /:unnamed-\d+\z|(\A|\s)(ssh|ecdsa|sk|ed25519)-\S*\s/)
      $own = $repeated[downcase($comment)] =~ Undef

      $plain = $readable and $own and !defined(Ssh_authorized_key[$comment])
      $key_title = if $plain { $comment } else { "${title}/${key['name']}" }
      $options = if empty($key['options']) { undef } else { $key['options'] }

      ssh_authorized_key { $key_title:
        ensure  => $ensure,
        user    => $user,
        target  => $target,
        type    => $key['type'],
        key     => $key['key'],
        options => $options,
        require => Simpkv_ssh_purge[$title],
      }
    }

    simpkv_ssh_purge { $title:
      user    => $user,
      target  => $target,
      central => $central,
      purge   => $purge,
      keys    => $removed,
    }
  }
}
