# frozen_string_literal: true

require 'ripper'

# Checks the prose of the repository: Markdown is wrapped at 100 columns, and no comment or paragraph opens with What,
# Who, Whose or Whether.
class Prose
  COLUMNS = 100
  OPENER = /\A["'(*`_]*(?:what|who|whose|whether)\b/i.freeze

  # Generated pages.
  GENERATED = %r{\A(?:REFERENCE\.md|docs/simpkv\.1|bench/results/)}.freeze

  RUBY = %r{(?:\.(?:rb|rake|gemspec)|(?:\A|/)(?:Rakefile|Gemfile)|\Aexe/simpkv)\z}.freeze
  MARKDOWN = /\.md(?:\.erb)?\z/.freeze
  C = /\.[ch]\z/.freeze
  # Files of other languages whose comments begin with #.
  HASH = %r{\A(?:bin/|\.ci/)|(?:configure|Makefile|\.(?:sh|mk|pp|ya?ml|ldif|conf|schema))\z}.freeze

  # In C, a string, a character or a comment.
  C_TOKEN = %r{"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|/\*.*?\*/|//[^\n]*}m.freeze
  private_constant :C_TOKEN

  # @param root [String] the folder of a checkout
  # @param files [Array<String>] names relative to the root
  def initialize(root, files)
    @root = root
    @files = files.grep_v(GENERATED).select { |file| File.file?(File.join(root, file)) }
  end

  # @return [Array<String>] a line for each violation: file, line, and the fault
  def violations
    @files.flat_map { |file| faults(file).map { |line, fault| "#{file}:#{line}: #{fault}" } }
  end

  private

  # @return [Array<Array(Integer, String)>] numbers of lines, and their faults
  def faults(file)
    case file
    when MARKDOWN then markdown(read(file))
    when RUBY then openers(ruby_comments(read(file)))
    when C then openers(c_comments(read(file)))
    when HASH then openers(hash_comments(read(file)))
    else []
    end
  end

  def read(file)
    File.read(File.join(@root, file), encoding: 'UTF-8')
  end

  def markdown(text)
    lines = prose_lines(text)
    long = lines.select { |_, line| line.length > COLUMNS && !line.match?(/\A\s*\||<%/) }
    long.map { |number, line| [number, "#{line.length} columns; the limit is #{COLUMNS}"] } + openers(lines)
  end

  # @return [Array<Array(Integer, String)>] the lines outside of code blocks, with their numbers
  def prose_lines(text)
    code = false
    text.lines(chomp: true).each.with_index(1).map do |line, number|
      fence = line.lstrip.start_with?('```')
      code = !code if fence
      [number, fence || code ? '' : line]
    end
  end

  # Checks the first word of each paragraph, list item and heading. An empty line, or a gap between the numbers, ends a
  # paragraph.
  def openers(lines)
    previous = [-1, '']
    lines.each_with_object([]) do |(number, line), found|
      text = line.sub(/\A\s*(?:[-*]|\d+\.|#+)\s+/, '').strip
      starts = previous.last.strip.empty? || previous.first < number - 1 || line.strip != text
      found << [number, "opens with #{text[/\w+/]}: begin with the noun or the verb"] if starts && text.match?(OPENER)
      previous = [number, heading?(line) ? '' : line]
    end
  end

  def heading?(line)
    line.start_with?('#')
  end

  def ruby_comments(text)
    last_code = 0
    Ripper.lex(text).each_with_object([]) do |((line, _), type, token), comments|
      if type == :on_comment
        comments << [line, ''] if last_code == line
        comments << [line, token.sub(/\A#+/, '')]
      elsif !%i[on_sp on_ignored_nl].include?(type)
        last_code = line
      end
    end
  end

  def c_comments(text)
    offset = 0
    line = 1
    text.to_enum(:scan, C_TOKEN).flat_map do
      match = Regexp.last_match
      line += text[offset...match.begin(0)].count("\n")
      offset = match.begin(0)
      [[line, ''], *comment_lines(match[0]).each.with_index(line).map { |content, number| [number, content] }]
    end
  end

  # @return [Array<String>] the text of a comment, without its marks; nothing for a string
  def comment_lines(token)
    return [] unless token.start_with?('/')

    token.delete_prefix('//').delete_prefix('/*').delete_suffix('*/').lines(chomp: true)
         .map { |line| line.sub(/\A\s*\*(?: |\z)/, '').strip }
  end

  def hash_comments(text)
    numbered = text.lines(chomp: true).each.with_index(1)
    numbered.map { |line, number| [number, line[/\A\s*#+(?!!)(.*)/, 1]] }.select(&:last)
  end
end
