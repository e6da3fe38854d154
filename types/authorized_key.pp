# @summary A public key of SSH, as `simpkv ssh import` stores it
#
# The module sshkeys_core can manage keys of these types, and reads these options back from the file.
type Simpkv::Authorized_key = Struct[{
  'type'              => Enum[
    'ssh-dss',
    'ssh-rsa',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp384',
    'ecdsa-sha2-nistp521',
    'ssh-ed25519',
    'sk-ecdsa-sha2-nistp256@openssh.com',
    'sk-ssh-ed25519@openssh.com',
    'ssh-rsa-cert-v01@openssh.com',
    'ssh-ed25519-cert-v01@openssh.com',
    'ssh-dss-cert-v01@openssh.com',
    'ecdsa-sha2-nistp256-cert-v01@openssh.com',
    'ecdsa-sha2-nistp384-cert-v01@openssh.com',
    'ecdsa-sha2-nistp521-cert-v01@openssh.com'
  ],
  'key'               => Pattern[/\A[A-Za-z0-9+\/]+={0,2}\z/],
  Optional['options'] => Array[Pattern[/\A[A-Za-z0-9_-]+(="(\\"|[^"\\[:cntrl:]]|\\(?!"))+")?\z/]],
  Optional['comment'] => String,
}]
