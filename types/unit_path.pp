# @summary An absolute path that a unit of systemd can hold
type Simpkv::Unit_path = Pattern[/\A(?!.*\/\.\.?(\/|\z))\/[^[:cntrl:]"'\\$]*\z/]
