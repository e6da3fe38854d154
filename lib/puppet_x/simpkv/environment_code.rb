# frozen_string_literal: true

# Reads the Ruby code of the Puppet module and of plugins. Each environment has its own version of it, under no name
# that another environment could see, and Puppet drops it with the environment object.
#
# The value of this file is the class.
Class.new do
  # @return [String] the folder of the module's own code
  attr_reader :folder

  # @param folder [String] as Puppet knows it, links included
  def initialize(folder)
    @folder = folder
  end

  # Evaluates a file in an object of its own. A class keeps all objects alive that were in scope at its
  # definition, and a catalog is large. The inner code is a String, so that constants of the file belong to that object.
  #
  # @param file [String]
  # @param variable [Symbol] a local variable to which the file assigns
  # @return [Object] the value of the variable
  # @raise [Exception] of reading and evaluating the file
  def evaluate(file, variable)
    place = TOPLEVEL_BINDING.eval(format("Object.new.instance_eval('%s = nil; binding')", variable))
    place.eval(File.read(file), file)
    place.local_variable_get(variable)
  end

  # @param names [Array<Symbol>] of files in the folder
  # @return [Hash{Symbol => Class}] the class of each, by the name of its file
  def classes(*names)
    names.to_h { |name| [name, evaluate(File.join(folder, "#{name}.rb"), :"#{name}_class")] }
  end

  # Keeps a value in the environment object until Puppet drops that. Two threads may both make it; then one of the two
  # equal values stays.
  #
  # @param name [Symbol] such as `:@simpkv_plugins`
  # @yieldreturn [Object] the value, made at the first call
  # @return [Object] the value; made anew each time if Puppet has no environment
  def kept(name)
    environment = Puppet.lookup(:current_environment) { nil }
    return yield unless environment

    environment.instance_variable_get(name) || environment.instance_variable_set(name, yield)
  end
end
