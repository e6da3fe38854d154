# frozen_string_literal: true

require 'open3'
require 'tmpdir'
require_relative 'unbundled'

# A page of docs/, whose blocks of code examples use as readers do, so that the page stays true.
class Page
  # @param name [String] such as `high-availability.md`
  def initialize(name)
    @text = File.read(File.expand_path("../../docs/#{name}", __dir__), encoding: 'UTF-8')
  end

  # Runs shell lines of a page with the command of this checkout; each must succeed.
  #
  # @param script [String]
  # @param environment [Hash{String => String}]
  # @return [String] the output
  # @raise [RuntimeError]
  def self.shell(script, environment = {})
    Dir.mktmpdir('page') do |folder|
      File.write(File.join(folder, 'simpkv'), Unbundled.program, perm: 0o755)
      path = { 'PATH' => "#{folder}:#{ENV.fetch('PATH')}" }
      output, status = Open3.capture2e(path.merge(environment), 'sh', '-euc', script, chdir: folder)
      status.success? ? output : raise("#{script}#{output}")
    end
  end

  # @param beginning [String]
  # @return [String] the first command that begins so, which a sentence or a table of the page has
  # @raise [RuntimeError] there is none
  def command(beginning)
    @text[/`(#{Regexp.escape(beginning)} [^`\n]+)`/, 1] || raise("the page has no command '#{beginning}'")
  end

  # @param language [String]
  # @return [Array<String>] all blocks of the page in that language, without their indentation
  def blocks_of(language)
    blocks_in(@text, language)
  end

  # @param name [String] in the first column of a table
  # @return [String] the command in the second column, if that has nothing else
  # @raise [RuntimeError] there is none
  def row(name)
    @text[/^\| #{Regexp.escape(name)} \| `([^`]+)` \|$/, 1] || raise("the page has no row '#{name}' with a command")
  end

  # @param heading [String] of a section
  # @param language [String] of the blocks
  # @return [Array<String>] the blocks of that section, without their indentation
  # @raise [RuntimeError] there is none
  def blocks(heading, language)
    section = @text[/^##+ #{Regexp.escape(heading)}\n(.*?)(?=^##|\z)/m, 1].to_s
    found = blocks_in(section, language)
    found.empty? ? raise("the page has no #{language} below '#{heading}'") : found
  end

  private

  def blocks_in(text, language)
    text.scan(/^( *)```#{language}\n(.*?)^\1```$/m).map { |indent, block| block.gsub(/^#{indent}/, '') }
  end
end
