# @summary An absolute path without steps to `.` and `..`
type Simpkv::Absolute_path = Pattern[/\A(?!.*\/\.\.?(\/|\z))\/[^[:cntrl:]]*\z/]
