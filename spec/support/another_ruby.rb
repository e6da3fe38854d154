# frozen_string_literal: true

require 'rbconfig'

# A Ruby like this one, in a process of its own.
module AnotherRuby
  # @return [Array<String>] the command; it finds the same libraries
  def self.command(*arguments)
    [*program, *$LOAD_PATH.map { |folder| "-I#{folder}" }, *arguments]
  end

  # JRuby has no program where it runs from its jars: there it is begun as this process was.
  def self.program
    return [RbConfig.ruby] unless RbConfig.ruby.start_with?('uri:')

    options = java.lang.management.ManagementFactory.getRuntimeMXBean.getInputArguments.to_a
    [File.join(ENV_JAVA['java.home'], 'bin', 'java'), *options, '-cp', ENV_JAVA['java.class.path'], 'org.jruby.Main']
  end
  private_class_method :program
end
