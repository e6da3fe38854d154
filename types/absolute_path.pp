# @summary An absolute path
type Simpkv::Absolute_path = Pattern[/\A\/[^\n]*\z/]
