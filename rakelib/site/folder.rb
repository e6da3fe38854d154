# frozen_string_literal: true

require 'fileutils'
require 'pathname'

class Site
  # The folder that a site is written into.
  class Folder
    # The file of a site that has the names of all its files, a line each.
    LIST = 'simpkv-site.txt'
    private_constant :LIST

    # There are other files in the folder.
    class Occupied < StandardError
      def initialize(folder)
        super("#{folder} has files that this command has not written. Name another folder, or remove it")
      end
    end

    # @param path [String]
    def initialize(path)
      @path = Pathname(path)
    end

    # @return [Pathname]
    attr_reader :path

    # Removes the site that is there.
    #
    # @raise [Occupied] if the folder has anything else, also beside a site: then it is unchanged
    def clear
      return unless @path.exist? || @path.symlink?
      raise Occupied, @path unless empty? || site?

      @path.rmtree
    end

    # @param name [String] a file in the folder
    # @param content [String]
    def store(name, content)
      file = @path.join(name)
      file.dirname.mkpath
      @path.join(LIST).write("#{name}\n", mode: 'a')
      file.binwrite(content)
    end

    private

    def empty?
      @path.directory? && @path.empty?
    end

    def site?
      list = @path.join(LIST)
      list.file? && (files - list.readlines(chomp: true)) == [LIST]
    end

    # @return [Array<String>] all that is below the folder, but for folders
    def files
      found = @path.find.reject { |place| place.directory? && !place.symlink? }
      found.map { |place| place.relative_path_from(@path).to_s }
    end
  end
end
