# frozen_string_literal: true

module Simpkv
  # Access control: roles, and the rules of the directory that carry them out.
  module Access
    # The rights of one role on one prefix:
    #
    # role:: [String] its name
    # prefix:: [String] as declared: `environments/dev`, for the names of rules
    # dn:: [String] of the prefix's folder in a directory, for its rules
    # rights:: [Array<String>] of {RIGHTS}
    # groups:: [Array<String>] the DNs of the groups whose members have the role, of class groupOfNames
    Grant = Struct.new(:role, :prefix, :dn, :rights, :groups, keyword_init: true) do
      # @return [Grant] the same in a directory
      def at(folder_dn)
        dup.tap { |grant| grant.dn = folder_dn }
      end
    end

    # `read`: get, exists and get_many of known keys. `list`: list and tree, and whether a folder exists. `write`: put,
    # put_many, create_folder and delete; it includes `read`, because a write reads first. deletetree and delete_folder
    # need `list` as well. The folder of the prefix itself stays: its writers can neither delete nor rename it.
    RIGHTS = %w[read list write].freeze

    # @param rights [Array<String>]
    # @return [Array<String>] with those that they include, in the order of {RIGHTS}
    def self.expand(rights)
      RIGHTS.select { |right| rights.include?(right) || (right == 'read' && rights.include?('write')) }
    end
  end
end
