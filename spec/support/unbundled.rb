# frozen_string_literal: true

require 'rbconfig'

# How to run the command of this checkout without Bundler, as on the machine of a site. Bundler takes longer than the
# command.
module Unbundled
  # The variables of its process.
  VARIABLES = ENV.keys.grep(/\A(BUNDLE|RUBYOPT|RUBYLIB)/).to_h { |name| [name, nil] }
                 .merge('GEM_PATH' => Gem.path.join(File::PATH_SEPARATOR)).freeze

  SIMPKV = [RbConfig.ruby, File.expand_path('../../exe/simpkv', __dir__)].freeze

  # The command with its variables, as a program with arguments.
  COMMAND = ['env', *VARIABLES.map { |name, value| value ? "#{name}=#{value}" : "--unset=#{name}" }, *SIMPKV].freeze

  # The text of a script that is the command.
  SCRIPT = "#!/bin/sh\nexec #{COMMAND.join(' ')} \"$@\"\n"
end
