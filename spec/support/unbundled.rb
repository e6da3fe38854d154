# frozen_string_literal: true

require 'rbconfig'
require_relative 'preloaded_program'
require_relative 'preloaded_ruby'

# How to run the command of this checkout without Bundler, as on the machine of a site. Bundler takes longer than the
# command.
module Unbundled
  # The variables of its process.
  VARIABLES = ENV.keys.grep(/\A(BUNDLE|RUBYOPT|RUBYLIB)/).to_h { |name| [name, nil] }
                 .merge('GEM_PATH' => Gem.path.join(File::PATH_SEPARATOR)).freeze

  SIMPKV = [RbConfig.ruby, File.expand_path('../../exe/simpkv', __dir__)].freeze

  # The command with its variables, as a program with arguments.
  COMMAND = ['env', *VARIABLES.map { |name, value| value ? "#{name}=#{value}" : "--unset=#{name}" }, *SIMPKV].freeze

  # The command in processes that need not load it, nor a library that it uses.
  class Preloaded
    # @param library [String]
    def initialize(library)
      libraries = "require 'simpkv/cli/commands'; require '#{library}'"
      @ruby = PreloadedRuby.new(libraries, PreloadedRuby::LIBRARY, VARIABLES)
    end

    # As those of PreloadedRuby, with the arguments of the command.
    %i[spawn capture2e].each do |method|
      define_method(method) do |arguments, **options|
        @ruby.public_send(method, "load '#{SIMPKV.last}'", arguments, name: SIMPKV.last, **options)
      end
    end
  end

  PRELOADED = Preloaded.new('simpkv/cli/configuration')

  # @return [String] the text of a program that is the command, for the PATH of other programs
  def self.program
    @program ||= PreloadedProgram.new { |arguments, **options| PRELOADED.spawn(arguments, **options) }.script
  end
end
