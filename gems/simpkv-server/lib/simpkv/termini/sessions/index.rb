# frozen_string_literal: true

require 'simpkv/query/session'

module Simpkv
  module Termini
    # What answers `simpkv::query` in this process: see {Gems}.
    module Sessions
      # From the index of queries.
      Index = Query::Session
    end
  end
end
