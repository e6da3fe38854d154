# frozen_string_literal: true

require 'cgi'
require 'kramdown'
require_relative 'anchors'

class Site
  # A manual page. kramdown makes HTML of the Markdown that kramdown-man makes roff of.
  class ManualPage
    OPTIONS = { auto_ids: false, syntax_highlighter: nil, smart_quotes: %w[apos apos quot quot],
                typographic_symbols: { hellip: '...', mdash: '---', ndash: '--' } }.freeze
    HEADING = %r{<h([1-6])>(.*?)</h\1>}m.freeze
    private_constant :OPTIONS, :HEADING

    # @param file [String] the manual page in the repository
    # @param source [String] its Markdown, of kramdown
    def initialize(file, source)
      @file = file
      name, section = source.match(/\A# (\S+) (\d)/).captures
      @title = "#{name.downcase}(#{section})"
      text = source.sub(/\A# .*/, "# #{@title}").gsub(%r{^\{::comment\}.*?\{:/comment\}\n}m, '')
      @html = number(Kramdown::Document.new(text, OPTIONS).to_html.gsub(%r{<a href="man:[^"]*">(.*?)</a>}, '\1'))
    end

    # @return [String] the manual page in the repository
    attr_reader :file

    # @return [String] such as simpkv(1)
    attr_reader :title

    # @return [String] HTML
    attr_reader :html

    # @return [String] in the site
    def target
      "#{@file}.html"
    end

    # @return [Array<Hash>] the parts between headings, for the search
    def sections
      @html.split(/(?=<h[1-6] )/).map do |part|
        anchor = part[/\A<h\d id="([^"]*)"/, 1]
        heading, text = part.split(%r{</h[1-6]>}, 2).map { |html| plain(html) }
        { 'page' => title, 'heading' => heading, 'text' => text, 'address' => "#{target}##{anchor}" }
      end
    end

    private

    def number(html)
      anchors = Anchors.of(html.scan(HEADING).map { |_, heading| plain(heading) })
      html.gsub(HEADING) { "<h#{$1} id=\"#{anchors.shift}\">#{$2}</h#{$1}>" } # rubocop:disable Style/PerlBackrefs
    end

    def plain(html)
      CGI.unescapeHTML(html.gsub(/<[^>]*>/, '')).gsub(/\s+/, ' ').strip
    end
  end
end
