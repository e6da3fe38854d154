# @summary The name of a user that may run a service: any but root
type Simpkv::Service_user = Pattern[/\A(?!root\z)[A-Za-z_][\w.@-]*\z/]
