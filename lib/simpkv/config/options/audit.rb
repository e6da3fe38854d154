# frozen_string_literal: true

module Simpkv
  # Further options, of the same kind as those of options.rb.
  module Config
    # Options of `audit` of a backend.
    AUDIT = [
      option('to', :audit_target, nil,
             'the file to append lines to; or `syslog`, with the priority authpriv.info; or `syslog:/PATH`, for a ' \
             'socket other than /dev/log',
             absent: 'required',
             errors: ["'to' of 'audit' of simpkv backend '...' is missing",
                      "'to' of 'audit' of simpkv backend '...' is inside 'root_path'",
                      "cannot ... the audit log '...': ...", "the audit log '...' is a symbolic link",
                      "the audit log '...' is not a regular file", "another process keeps the audit log '...' locked",
                      "syslog at '...' takes no more messages of the audit log"]),
      option('reads', :boolean, false, 'true: simpkv also logs operations that read', protects: true),
      option('required', :boolean, false,
             'true: an operation fails if its line cannot be written; if the disk is full, it is not done. false: ' \
             'simpkv warns once, and the operation succeeds',
             protects: true,
             errors: ["'required' of ... needs a file",
                      "The option 'required' of 'audit' is set, so nothing was done",
                      "the file system of the audit log '...' cannot reserve disk space"])
    ].freeze
  end
end
