# frozen_string_literal: true

# A page of docs/, whose blocks of code examples use as readers do, so that the page stays true.
class Page
  # @param name [String] such as `high-availability.md`
  def initialize(name)
    @text = File.read(File.expand_path("../../docs/#{name}", __dir__))
  end

  # @param heading [String] of a section
  # @param language [String] of the blocks
  # @return [Array<String>] the blocks of that section, without their indentation
  # @raise [RuntimeError] there is none
  def blocks(heading, language)
    section = @text[/^##+ #{Regexp.escape(heading)}\n(.*?)(?=^##|\z)/m, 1].to_s
    found = section.scan(/^( *)```#{language}\n(.*?)^\1```$/m).map { |indent, block| block.gsub(/^#{indent}/, '') }
    found.empty? ? raise("the page has no #{language} below '#{heading}'") : found
  end
end
