# frozen_string_literal: true

module Simpkv
  # Reads code of the Puppet module and of plugins, of which each environment has its own version: none of it has a name
  # that another could see, and it lives as long as Puppet's environment object.
  module EnvironmentCode
    # Where the code of a file is evaluated: in an object of its own, with none of what calls it around. A class
    # remembers all the objects around the place where it was made, and a catalog is large. That the inner code is a
    # String lets constants that the file defines belong to that object.
    PLACE = "Object.new.instance_eval('%<variable>s = nil; binding')"
    private_constant :PLACE

    # @param file [String] a file of Ruby code
    # @param variable [Symbol] a local variable to which that code assigns
    # @return [Object] what it assigns
    # @raise [Exception] whatever reading and evaluating the file raises
    def self.evaluate(file, variable)
      place = TOPLEVEL_BINDING.eval(format(PLACE, variable: variable))
      place.eval(File.read(file), file)
      place.local_variable_get(variable)
    end

    # What the environment object keeps under a name: what the block made when it was first asked for. Puppet drops that
    # object, and all this with it, when the environment is to be read anew. Two threads may both make it; one is as
    # good as the other.
    #
    # @param name [Symbol] such as `:@simpkv_plugins`
    # @return [Object] what the block answered; anew each time where Puppet has no environment
    def self.kept(name)
      environment = Puppet.lookup(:current_environment) { nil }
      return yield unless environment

      environment.instance_variable_get(name) || environment.instance_variable_set(name, yield)
    end
  end
end
