# frozen_string_literal: true

require 'json'
require 'open3'

# Runs Bolt, the gem in BOLT_HOME, in the folder of a project.
module Bolt
  MODULE = File.expand_path('../..', __dir__)

  # @param arguments [Array<String>] of the command `bolt`
  # @param folder [String] the project, which is HOME as well. Its folder bin, if there is one, comes first in PATH
  # @param environment [Hash{String => String}]
  # @return [Object] what Bolt prints, as JSON
  def self.run(*arguments, folder:, environment: {})
    home = ENV.fetch('BOLT_HOME') { raise 'BOLT_HOME must name the folder of the gem of Bolt: run `bin/test bolt`' }
    variables = environment(home).merge('HOME' => folder, 'PATH' => "#{folder}/bin:#{ENV.fetch('PATH')}")
    output, log, = Open3.capture3(variables.merge(environment), "#{home}/bin/bolt", *arguments, '--format', 'json',
                                  chdir: folder)
    JSON.parse(output)
  rescue JSON::ParserError
    raise "bolt failed:\n#{output}#{log}"
  end

  # The environment variables without those of the specs' bundle, which does not contain Bolt.
  def self.environment(home)
    clean = ENV.to_h.select { |name, _| name.start_with?('BUNDLE', 'RUBY', 'GEM') }.transform_values { nil }
    clean.merge('GEM_PATH' => [home, *Gem.default_path].join(':'), 'BOLT_GEM' => 'true',
                'BOLT_DISABLE_ANALYTICS' => 'true')
  end
  private_class_method :environment
end
