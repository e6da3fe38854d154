# frozen_string_literal: true

# What simpkv.h declares.
module Header
  ROOT = File.expand_path('../..', __dir__)
  TEXT = File.read(File.join(ROOT, 'ext/core/include/simpkv.h'))

  # Without comments.
  CODE = TEXT.gsub(%r{/\*.*?\*/}m, '')

  # @return [Hash{String => Array(String, Array<String>)}] each function's result and parameters, as they are spelled,
  #   without the parameters' names
  def self.functions
    CODE.scan(/^SKV_API\s+([^;(]*?)(\w+)\(([^;]*)\);/m).to_h do |result, name, parameters|
      types = parameters.split(',').map do |parameter|
        parameter.strip.sub(/(?<=[*\s])\w+\z/, '').gsub(/\s+/, ' ').strip
      end
      [name, [result.strip, types == ['void'] || parameters.strip == 'void' ? [] : types]]
    end
  end

  # @return [Integer] the value of a #define
  def self.constant(name)
    Integer(CODE[/^#define #{name} (\d+)/, 1])
  end

  # @return [Array<String>] the names of the statuses, by number
  def self.statuses
    statuses = CODE.scan(/X\((\d+), \w+, "(\w+)"\)/)
    raise 'statuses have gaps' unless statuses.map(&:first) == (0...statuses.length).map(&:to_s)

    statuses.map(&:last)
  end
end
