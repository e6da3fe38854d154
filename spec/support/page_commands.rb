# frozen_string_literal: true

# The commands of the pages in docs.
module PageCommands
  DOCS = File.expand_path('../../docs', __dir__)

  # @param page [String] the name of the file
  # @param heading [String]
  # @return [String] the commands of a section, with its subsections
  def commands(page, heading)
    text = File.read(File.join(DOCS, page), encoding: 'UTF-8')
    level, = text.match(/^(##+) #{heading}$/).captures
    section = text[/^#{level} #{heading}\n(.*?)(?:^\#{2,#{level.length}} |\z)/m, 1]
    section.scan(/^( *)```sh\n(.*?)^ *```$/m).map { |indentation, lines| lines.gsub(/^#{indentation}/, '') }.join
  end
end
