# frozen_string_literal: true

module Simpkv
  # Further options, of the same kind as those of options.rb.
  module Config
    # Options of `audit` of a backend.
    AUDIT = [
      option('to', :audit_target, nil,
             'the file that lines are appended to, or `syslog` (authpriv.info); `syslog:/PATH` is for another socket ' \
             'than /dev/log',
             absent: 'required',
             errors: ["'to' of 'audit' of simpkv backend '...' is missing",
                      "'to' of 'audit' of simpkv backend '...' is inside 'root_path'",
                      "cannot ... the audit log '...': ...", "the audit log '...' is a symbolic link",
                      "the audit log '...' is not a regular file", "another process keeps the audit log '...' locked",
                      "syslog at '...' takes no more messages of the audit log"]),
      option('reads', :boolean, false, 'true: operations that read have lines, too'),
      option('required', :boolean, false,
             'true: an operation whose line cannot be written fails, and is not done if the disk is full. Otherwise ' \
             'simpkv warns once, and the operation succeeds',
             errors: ["'required' of ... needs a file",
                      "The option 'required' of 'audit' is set, so nothing was done",
                      "the file system of the audit log '...' cannot reserve disk space"])
    ].freeze
  end
end
