# frozen_string_literal: true

require 'simpkv/vardirs'

module Simpkv
  class Estate
    # Finds the actions that a site adds to those of inspection rules: a file each, named
    # `puppet_x/simpkv/rule_actions/NAME.rb`, below the folder `lib` of a module, or below another folder of Ruby code.
    # Reads no file.
    class RuleActions
      # The place of the files in each folder of Ruby code.
      FOLDER = 'puppet_x/simpkv/rule_actions'

      # The folders of Puppet's code, in Puppet's own packages and in Debian's.
      CODEDIRS = %w[/etc/puppetlabs/code /etc/puppet/code].freeze

      # The folders of modules in a folder of code.
      MODULEPATHS = %w[environments/*/modules environments/*/site modules].freeze

      NAME = /\A[a-z][a-z0-9_-]*\z/.freeze
      private_constant :CODEDIRS, :MODULEPATHS, :NAME

      # @return [RuleActions] for programs that are not Puppet: those of all environments in the usual places
      def self.usual
        modulepaths = CODEDIRS.product(MODULEPATHS).flat_map { |parts| Dir.glob(File.join(parts)) }
        new(modulepaths, [*Vardirs.all.map { |vardir| File.join(vardir, 'lib') }, *$LOAD_PATH])
      end

      # @return [String] the folders, for messages
      attr_reader :places

      # @param modulepath [Array<String>] folders of modules, the first one wins
      # @param folders [Array<String>] further folders of Ruby code
      def initialize(modulepath, folders)
        roots = modulepath.map { |folder| File.join(folder, '*', 'lib') } + folders.map(&:to_s)
        @places = roots.uniq
      end

      # @return [Array<String>] the names of all actions, sorted
      def names
        files('*').map { |file| File.basename(file, '.rb') }.grep(NAME).uniq.sort
      end

      # @param name [String]
      # @return [String, nil] the file of the action; nil if there is none
      def file(name)
        files(name).first if name.match?(NAME)
      end

      # @param name [String]
      # @return [String] why there is no such action, for messages
      def missing(name)
        "there is no file #{FOLDER}/#{name}.rb in #{places.join(', ')}"
      end

      private

      def files(name)
        places.flat_map { |place| Dir.glob(File.join(place, FOLDER, "#{name}.rb")).sort }
      end
    end
  end
end
