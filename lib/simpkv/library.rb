# frozen_string_literal: true

module Simpkv
  # The files of the library, each with the constant of its name. `require 'simpkv'` loads all of them; a command loads
  # one when it uses the constant.
  LIBRARY = %w[audit clock store/audited_store store/batch store/change document/codec document/placeholder
               document/rich_data config/coercion config/spelling config store/deadline store/encrypted_store backend
               document/stored_form store store/replica_reads store/compare_and_swap store/first_write secrets
               config/store_options config/validation store/versioned_store document/versions].freeze
end
