# frozen_string_literal: true

# The first use of a constant loads its file. `require 'simpkv/all'` loads all of them at once.
module Simpkv
  # The files of the library, by the constant of their name.
  LIBRARY = %w[audit clock store/audited_store store/batch store/change document/codec document/placeholder
               document/rich_data config/coercion config/spelling config store/deadline store/encrypted_store backend
               document/stored_form store store/replica_reads store/compare_and_swap store/first_write secrets
               config/store_options config/validation store/versioned_store document/versions]
            .to_h { |file| [file[/\w+\z/].split('_').map(&:capitalize).join.to_sym, "simpkv/#{file}"] }.freeze
  LIBRARY.each { |constant, file| autoload(constant, file) }
end
