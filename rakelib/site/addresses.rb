# frozen_string_literal: true

require 'pathname'

class Site
  # The links of the repository's pages, and what they are in the site.
  class Addresses
    # @param root [Pathname] the repository
    # @param targets [Hash{String => String}] the files of the pages, and their places in the site
    def initialize(root, targets)
      @root = root
      @targets = targets
      @copies = []
      @folders = []
      @origins = {}
    end

    # @return [Array<String>] the other files, and the folders, that links lead to
    attr_reader :copies, :folders

    # @return [Hash{Array(String, String) => String}] by place in the site and address, the link as it is in the
    #   repository, with its file and line
    attr_reader :origins

    # @param file [String] a page of the repository
    # @param link [String] of that page
    # @param line [Integer] where it is
    # @return [String] the link in the site: the same if it leads to nothing in the repository
    def of(file, link, line)
      here = @targets.fetch(file)
      address = convert(file, Pathname(here).dirname, link)
      @origins[[here, address]] ||= "#{file}:#{line}: #{link}"
      address
    end

    # @param file [String] a file or folder of the repository
    # @return [String, nil] its place in the site; nil if the repository has no such file
    def target_of(file)
      return @targets[file] if @targets.key?(file)
      return if outside?(file)
      return @copies.push(file).last if @root.join(file).file?
      return unless @root.join(file).directory?
      return @targets["#{file}/README.md"] if @targets.key?("#{file}/README.md")

      @folders << file
      "#{file}/index.html"
    end

    private

    def convert(file, folder, link)
      return link if link.empty? || link.match?(/\A(?:#|\w+:)/)

      path, anchor = link.split('#', 2)
      target = target_of(Pathname(file).dirname.join(path).cleanpath.to_s) or return link
      [Pathname(target).relative_path_from(folder), *anchor].join('#')
    end

    # A file of the machine that builds the site is no file of the site.
    def outside?(file)
      file.start_with?('/', '../') || file == '..'
    end
  end
end
