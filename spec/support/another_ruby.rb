# frozen_string_literal: true

require 'rbconfig'

# Another process of the Ruby that runs the specs.
module AnotherRuby
  # @return [Array<String>] the command; it finds the same libraries
  def self.command(*arguments)
    [*program, *$LOAD_PATH.map { |folder| "-I#{folder}" }, *arguments]
  end

  # JRuby that runs from its jars has no executable, so the command repeats that of this process.
  def self.program
    return [RbConfig.ruby] unless RbConfig.ruby.start_with?('uri:')

    options = java.lang.management.ManagementFactory.getRuntimeMXBean.getInputArguments.to_a
    [File.join(ENV_JAVA['java.home'], 'bin', 'java'), *options, '-cp', ENV_JAVA['java.class.path'], 'org.jruby.Main']
  end
  private_class_method :program
end
