# frozen_string_literal: true

module Simpkv
  module Cli
    module Doctor
      # What the classes of `cli/doctor/nodes` examine, each by its method `perform`.
      #
      # estate:: the {Estate}
      # backend:: the {ChosenBackend} with it
      # findings:: the {Findings} to be filled
      # simpkv:: the command line that chooses the backend
      # user:: an {OtherUser} that must be able to read the files; nil for none
      # puppet:: the {PuppetSettings}; nil if there is no puppet.conf that this user can read
      # configuration:: the {Configuration}
      Subject = Struct.new(:estate, :backend, :findings, :simpkv, :user, :puppet, :configuration)
    end
  end
end
