# @summary The name of a user or a group of the system
type Simpkv::Account = Pattern[/\A[A-Za-z_][\w.@-]*\z/]
