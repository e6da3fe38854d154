# frozen_string_literal: true

require 'simpkv/backend/vardirs'

module Simpkv
  module Inspection
    # Finds the actions that a site adds to those of inspection rules: a file each, named
    # `puppet_x/simpkv/rule_actions/NAME.rb`, below the folder `lib` of a module, or below another folder of Ruby code.
    # Reads no file.
    class ActionFiles
      # The place of the files in each folder of Ruby code.
      FOLDER = 'puppet_x/simpkv/rule_actions'

      # The folders of Puppet's code, in Puppet's own packages and in Debian's.
      CODEDIRS = %w[/etc/puppetlabs/code /etc/puppet/code].freeze

      # The folders of modules in a folder of code.
      MODULEPATHS = %w[environments/*/modules environments/*/site modules].freeze

      NAME = /\A[a-z][a-z0-9_-]*\z/.freeze
      private_constant :CODEDIRS, :MODULEPATHS, :NAME

      # @return [ActionFiles] for programs that are not Puppet: those of all environments in the usual places
      def self.usual
        modulepaths = CODEDIRS.product(MODULEPATHS).flat_map { |parts| Dir.glob(File.join(parts)) }
        new(modulepaths, Vardirs.all.map { |vardir| File.join(vardir, 'lib') })
      end

      # Looks into the folders in this order, and into those of $LOAD_PATH.
      #
      # @param modulepath [Array<String>] folders of modules
      # @param libdirs [Array<String>] further folders of Ruby code
      def initialize(modulepath, libdirs)
        @places = (modulepath.map { |folder| File.join(folder, '*', 'lib') } + libdirs).uniq
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

      # @param message [String] of an error of the core
      # @return [String] the same, and the places of files, if it says that there is no action of some name
      def explained(message)
        name = message[/\.op: there is no action '([^']+)'/, 1]
        return message unless name&.match?(NAME)

        "#{message}, which is a file #{FOLDER}/#{name}.rb in #{[*@places, '$LOAD_PATH'].join(', ')}"
      end

      private

      def files(name)
        [*@places, *$LOAD_PATH].flat_map { |place| Dir.glob(File.join(place.to_s, FOLDER, "#{name}.rb")).sort }
      end
    end
  end
end
