# frozen_string_literal: true

require 'simpkv/status/part'

module Simpkv
  module Status
    module Parts
      # The runs of some days, which the service counts by its index: see {Server::RunCounts}.
      class Runs < Part
        RANK = 35
        WORDS = 'runs'
        # A site may do without the index, and the console says so in the place of the chart.
        SILENT = true
      end
    end
  end
end
