# frozen_string_literal: true

require 'pathname'

class Site
  # The links of a site, which a browser follows in its files.
  class Links
    # @param folder [Pathname] of the site
    # @param origins [Hash{Array(String, String) => String}] those of {Addresses}
    def initialize(folder, origins)
      @folder = folder
      @origins = origins
      @pages = Pathname.glob(@folder.join('**/*.html')).to_h { |file| [file, file.read(encoding: 'UTF-8')] }
    end

    # @return [Array<String>] those that lead to no file or heading of the site, each with the file and the line of
    #   the repository that has it, or else with its page
    def broken
      @pages.flat_map do |file, html|
        page = file.relative_path_from(@folder).to_s
        links = html.scan(/ (?:href|src|action)="([^"]*)"/).flatten.uniq.grep_v(/\A\w+:/)
        links.reject { |link| there?(file, *link.split('#', 2)) }
             .map { |link| @origins.fetch([page, link], "#{page}: #{link}") }
      end
    end

    private

    def there?(file, path = '', anchor = nil)
      target = path.empty? ? file : file.dirname.join(path).cleanpath
      inside?(target) && target.file? && (anchor.nil? || heading?(target, anchor))
    end

    def heading?(page, anchor)
      @pages[page]&.match?(/ (?:id|name)="#{Regexp.escape(anchor)}"/)
    end

    def inside?(target)
      target.ascend.include?(@folder.cleanpath)
    end
  end
end
