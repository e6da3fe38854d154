# frozen_string_literal: true

require 'fileutils'
require 'pathname'

class Site
  # The folder that a site is written into.
  class Folder
    # What each page of a site has in its head.
    MARK = '<meta name="generator" content="rake docs:site of simpkv">'

    # There are other files in the folder.
    class Occupied < StandardError
      def initialize(folder)
        super("#{folder} is not empty, and has no site that this command has made. Name another folder, or remove it")
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
    # @raise [Occupied] if the folder has something else: then it is unchanged
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
      file.binwrite(content)
    end

    private

    def empty?
      @path.directory? && @path.empty?
    end

    def site?
      index = @path.join('index.html')
      index.file? && index.binread.include?(MARK)
    end
  end
end
