# frozen_string_literal: true

require 'English'
require 'tsort'

# Checks who calls whom in the core, by the symbols of its object files: a file calls only its own folder or folders
# before it in FOLDERS, and no two files call each other, directly or through others.
class Layers
  include TSort

  # From the lowest; '.' is api.c, the public calls.
  FOLDERS = %w[base json secret rules name crypt audit net store file ldap .].freeze

  # @param sources [String] the folder of the sources
  # @param objects [String] the folder of their object files
  def initialize(sources, objects)
    @symbols = Dir['**/*.c', base: sources].to_h { |file| [file, nm(File.join(objects, file.sub(/c\z/, 'o')))] }
    @calls = @symbols.transform_values { |types| needed(types).group_by { |name| home_of(name) } }
    @calls.each_value { |callees| callees.delete(nil) }
  end

  # @return [Array<String>] a sentence for each violation
  def violations
    cycles + climbs
  end

  private

  # @return [Hash{String => String}] by symbol, its type: U for one that another file defines
  def nm(path)
    lines = IO.popen(['nm', '--extern-only', '--format=posix', path], &:readlines)
    raise "nm #{path} failed" unless $CHILD_STATUS.success?

    lines.to_h { |line| line.split.first(2) }
  end

  def needed(types)
    types.keys.select { |name| types[name] == 'U' }
  end

  # @return [String, nil] the file that defines a symbol; nil for one of another library
  def home_of(name)
    @homes ||= @symbols.flat_map { |file, types| (types.keys - needed(types)).map { |each| [each, file] } }.to_h
    @homes[name]
  end

  def cycles
    groups = strongly_connected_components.select { |files| files.length > 1 }
    groups.map { |files| "These files call each other: #{files.sort.join(', ')}." }
  end

  def climbs
    @calls.flat_map do |file, callees|
      above = callees.select { |callee, _| rank(callee) > rank(file) }
      above.map { |callee, names| "#{file} calls #{names.first}() of #{callee}, in a folder above its own." }
    end
  end

  def rank(file)
    FOLDERS.index(File.dirname(file)) || raise("FOLDERS in #{__FILE__} does not name the folder of #{file}")
  end

  def tsort_each_node(&block)
    @calls.each_key(&block)
  end

  def tsort_each_child(file, &block)
    @calls.fetch(file).each_key(&block)
  end
end
