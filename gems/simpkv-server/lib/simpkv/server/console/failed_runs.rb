# frozen_string_literal: true

module Simpkv
  module Server
    module Console
      # The last runs of a node, all of which have failed.
      #
      # - `number`: their number
      # - `since`: the time of the first one; nil if it has none
      # - `all`: whether all stored runs have failed, so that there may have been more
      FailedRuns = Struct.new(:number, :since, :all) do
        # @param runs [Array<Array(String, String)>] status and time of each stored run, the newest first
        # @return [FailedRuns]
        def self.of(runs)
          failed = runs.take_while { |status, _| status == 'failed' }
          new(failed.length, failed.last&.last, failed.any? && failed.length == runs.length)
        end
      end
    end
  end
end
