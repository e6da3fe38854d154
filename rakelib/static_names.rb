# frozen_string_literal: true

# Checks that no two files of the core and the extension define static functions of the same name, so that a backtrace
# is unambiguous. It reads the sources, in clang-format's layout: the compiler inlines many of these functions, and
# the object files do not show them then.
class StaticNames
  DEFINITION = /^static\s[^;{}()=]*?(\w+)\([^;{}]*\)\s*\{/.freeze
  private_constant :DEFINITION

  # @param sources [Hash{String => String}] the text of each file by its name
  def initialize(sources)
    @sources = sources
  end

  # @return [Array<String>] a sentence for each name that several files have
  def violations
    files = Hash.new { |hash, name| hash[name] = [] }
    @sources.each { |file, text| text.scan(DEFINITION).flatten.uniq.each { |name| files[name] << file } }
    files.select { |_, in_files| in_files.length > 1 }
         .map { |name, in_files| "These files have a static function #{name}() each: #{in_files.sort.join(', ')}." }
  end
end
