# frozen_string_literal: true

module PuppetX
  # Gives the functions, types and providers of this module the code that they share. Each file of that code is a class
  # or a module without a name.
  #
  # The environments of a puppetserver may have different versions of this module. If the code had a name, all of them
  # would use the version that was loaded last. All versions share this method, so its meaning must stay the same.
  module Simpkv
    # @param file [String] the file that uses the part, `__FILE__`: the part comes from the same version of the module
    # @param name [String] the name of the part, which is a file of this folder
    # @return [Class, Module] the value of that file, made anew
    def self.part(file, name)
      # The path as Puppet knows it: __dir__ would follow links.
      path = File.join(File.expand_path(file)[%r{\A.*(?=/puppet(_x)?/)}m], 'puppet_x', 'simpkv', "#{name}.rb")
      TOPLEVEL_BINDING.eval(File.read(path), path)
    end
  end
end
