# @summary A service that Nagios checks, in a file of its own
#
# @param host
#   The name of the host that runs the service.
# @param command
#   The command of Nagios that checks it.
define estate_demo::check (
  String[1] $host,
  String[1] $command,
) {
  file { "${facts['estate_demo']}/nagios.d/${title}.cfg":
    content => "define service {\n  host_name ${host}\n  check_command ${command}\n}\n",
  }
}
