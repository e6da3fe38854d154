# @summary An address of a host, in a file of its own
#
# @param address
#   The address of the host.
define estate_demo::host (
  String[1] $address,
) {
  file { "${facts['estate_demo']}/hosts.d/${title}":
    content => "${address} ${title}\n",
  }
}
