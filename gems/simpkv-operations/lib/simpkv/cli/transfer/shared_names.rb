# frozen_string_literal: true

module Simpkv
  module Cli
    # Finds names that would be those of a key and of a folder at once, which no store takes.
    module SharedNames
      # @param added [Array<String>] the paths of new keys
      # @param keys [Array<String>] those of all keys, the new ones included
      # @param folders [Array<String>] those of existing folders
      # @return [Hash{String => String}] by path of a key, why it cannot be one, or have something below it
      def self.find(added, keys, folders)
        needed = added.each_with_object({}) do |path, all|
          above(path).each { |folder| all[folder] ||= path }
        end
        there = (added & folders).to_h { |path| [path, 'the target has a folder there'] }
        there.merge((keys & needed.keys).to_h { |path| [path, "'#{needed[path]}' needs a folder there"] })
      end

      # @param path [String]
      # @return [Array<String>] the paths of the folders above it
      def self.above(path)
        names = path.split('/')
        Array.new(names.length - 1) { |index| names.first(index + 1).join('/') }
      end
    end
  end
end
