# frozen_string_literal: true

require 'stringio'

# Runs `puppet resource` in this process, where it takes milliseconds.
module PuppetResource
  # @param arguments [Array<String>] type, title and parameters
  # @param yaml [Boolean] whether to print YAML
  # @return [String] its output
  def puppet_resource(*arguments, yaml: false, environment: world.environment)
    Puppet[:environment] = environment.name.to_s
    Puppet[:statedir] = world.state_folder
    command_line = Puppet::Util::CommandLine.new('puppet', ['resource', *arguments])
    application = Puppet::Application.find(:resource).new(command_line)
    application.preinit
    application.options[:to_yaml] = yaml
    environments = Puppet::Environments::Static.new(environment)
    Puppet.override(environments: environments, current_environment: environment) { printed { application.main } }
  end

  private

  def printed
    former = $stdout
    $stdout = StringIO.new
    yield
    $stdout.string
  ensure
    $stdout = former
  end
end
