# frozen_string_literal: true

module Simpkv
  class Adapter
    # Reads the Ruby code of the Puppet module and of plugins. Each environment has its own version of it, under no name
    # that another environment could see, and Puppet drops it with the environment object.
    module EnvironmentCode
      # Evaluates a file in an object of its own. A class keeps all objects alive that were in scope at its
      # definition, and a catalog is large. The inner code is a String, so that constants of the file belong to that
      # object.
      #
      # @param file [String]
      # @param variable [Symbol] a local variable to which the file assigns
      # @return [Object] the value of the variable
      # @raise [Exception] of reading and evaluating the file
      def self.evaluate(file, variable)
        place = TOPLEVEL_BINDING.eval(format("Object.new.instance_eval('%s = nil; binding')", variable))
        place.eval(File.read(file), file)
        place.local_variable_get(variable)
      end

      # Keeps a value in the environment object until Puppet drops that. Two threads may both make it; then one of the
      # two equal values stays.
      #
      # @param name [Symbol] such as `:@simpkv_plugins`
      # @yieldreturn [Object] the value, made at the first call
      # @return [Object] the value; made anew each time if Puppet has no environment
      def self.kept(name)
        environment = Puppet.lookup(:current_environment) { nil }
        return yield unless environment

        environment.instance_variable_get(name) || environment.instance_variable_set(name, yield)
      end
    end
  end
end
