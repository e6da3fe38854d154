# frozen_string_literal: true

require_relative 'anchors'

class Site
  # A page of the documentation. CommonMarker wraps cmark-gfm, which GitHub uses: both show the same.
  class Page
    EXTENSIONS = %i[table strikethrough autolink].freeze
    private_constant :EXTENSIONS

    # @param root [Pathname] the repository
    # @param file [String] Markdown, from there
    def initialize(root, file)
      @file = file
      @source = root.join(file).read(encoding: 'UTF-8')
      headings = parse.each.select { |node| node.type == :header }.map { |node| text(node) }
      @title = headings.first || File.basename(file, '.md')
      @anchors = Anchors.of(headings)
    end

    # @return [String] in the repository
    attr_reader :file

    # @return [String]
    attr_reader :title

    # @return [String] in the site
    def target
      @file.sub(/README\.md\z/, 'index.md').sub(/md\z/, 'html')
    end

    # @yieldparam link [String] the address of each link and picture
    # @yieldparam line [Integer] where it begins
    # @yieldreturn [String] what replaces it
    # @return [String] HTML; headings have the anchors that GitHub gives them
    def html(&block)
      anchors = @anchors.dup
      to_html(replace_links(parse, &block))
        .gsub(/<h([1-6])>/) { "<h#{Regexp.last_match(1)} id=\"#{anchors.shift}\">" }
        .gsub('<table>', '<div class="scroll" tabindex="0"><table>').gsub('</table>', '</table></div>')
    end

    # @yield as in {#html}
    # @return [Array<Array(String, Array<Array(String, String)>)>] the headings below the first one, each with the
    #   addresses and texts of the links below it
    def contents(&block)
      parts(replace_links(parse, &block)).drop(1).map do |heading, nodes|
        links = nodes.flat_map { |node| node.walk.select { |each| each.type == :link } }
        [heading, links.map { |link| [link.url, text(link)] }]
      end
    end

    # @return [Array<Hash>] the parts between headings, for the search
    def sections
      anchors = @anchors.dup
      parts(parse).map do |heading, nodes|
        { 'page' => title, 'heading' => heading || title, 'text' => nodes.map { |node| text(node) }.join(' '),
          'address' => [target, *(anchors.shift if heading)].join('#') }
      end
    end

    private

    def parse
      CommonMarker.render_doc(@source, :DEFAULT, EXTENSIONS)
    end

    def to_html(document)
      CommonMarker::HtmlRenderer.new(options: :UNSAFE, extensions: EXTENSIONS).render(document)
    end

    def replace_links(document)
      document.walk { |node| node.url = yield(node.url, line_of(node)) if %i[link image].include?(node.type) }
      document
    end

    def line_of(node)
      node.sourcepos[:start_line]
    end

    # @return [Array<Array(String, Array<CommonMarker::Node>)>] headings, nil for none, and what is below each
    def parts(document)
      document.each.slice_before { |node| node.type == :header }.map do |first, *rest|
        first.type == :header ? [text(first), rest] : [nil, [first, *rest]]
      end
    end

    def text(node)
      node.to_plaintext.gsub(/\s+/, ' ').strip
    end
  end
end
