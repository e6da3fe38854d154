# frozen_string_literal: true

require 'pathname'

class Site
  # The links of a site, which a browser follows in its files.
  class Links
    # @param folder [String] of the site
    def initialize(folder)
      @folder = Pathname(folder)
      @pages = Pathname.glob(@folder.join('**/*.html')).to_h { |file| [file, file.read(encoding: 'UTF-8')] }
    end

    # @return [Array<String>] those that lead to no file or heading, each with its page
    def broken
      @pages.flat_map do |file, html|
        links = html.scan(/ (?:href|src|action)="([^"]*)"/).flatten.uniq.grep_v(/\A\w+:/)
        links.reject { |link| there?(file, *link.split('#', 2)) }
             .map { |link| "#{file.relative_path_from(@folder)}: #{link}" }
      end
    end

    private

    def there?(file, path = '', anchor = nil)
      target = path.empty? ? file : file.dirname.join(path).cleanpath
      target.file? && (anchor.nil? || @pages[target]&.match?(/ (?:id|name)="#{Regexp.escape(anchor)}"/))
    end
  end
end
