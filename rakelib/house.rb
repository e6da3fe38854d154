# frozen_string_literal: true

require_relative 'rooms'

# The table of `rake house`: the rooms of each gem, with their size and what they use.
class House
  # Where specs are that do not bear the name of a room: by room, patterns below spec.
  SPECS = { 'adapter' => %w[functions/** conformance/**], 'store' => %w[integration/** faults/** load/**],
            'termini' => %w[puppetserver/**], 'server' => %w[console/**], 'query' => %w[puppetdb/**],
            'cli' => %w[command/**], 'resources' => %w[types/**] }.freeze
  HEAD = %w[gem room files code comments tests uses].freeze
  private_constant :SPECS, :HEAD

  # @param root [String] of the checkout
  def initialize(root)
    @root = root
    @rooms = Rooms.new(root)
  end

  # @return [String] a table in Markdown
  def table
    rows = @rooms.by_gem.flat_map { |gem, rooms| rooms.map { |room, files| row(gem, room, files) } }
    [HEAD, HEAD.map { '---' }, *rows, core].map { |cells| "| #{cells.join(' | ')} |" }.join("\n")
  end

  private

  def row(gem, room, files)
    code, comments = count(files.map { |file| File.join(@root, @rooms.path(file)) })
    [gem, room, files.length, code, comments, tests(room), @rooms.rooms_used_by(files).join(', ')]
  end

  # @return [Array] the row of the core in C
  def core
    code, comments = count(Dir[File.join(@root, 'ext/{core/{src,include},simpkv}/**/*.{c,h}')])
    tests, = count(Dir[File.join(@root, 'ext/core/test/**/*.{c,h}')])
    files = Dir[File.join(@root, 'ext/{core/{src,include},simpkv}/**/*.{c,h}')].length
    ['simpkv', 'ext', files, code, comments, tests, 'libldap, jansson, PCRE2, OpenSSL']
  end

  # @return [Array(Integer, Integer)] lines of code, and of comments
  def count(files)
    lines = files.flat_map { |file| File.readlines(file, encoding: 'UTF-8').map(&:strip) }.reject(&:empty?)
    comments = lines.count { |line| line.match?(%r{\A(?:/\*|\*[ /]|//|\#(?!include|define|if|else|endif|undef))}) }
    [lines.length - comments, comments]
  end

  # @return [Integer, nil] lines of specs, at the first gem with a part of the room
  def tests(room)
    @told ||= ['.']
    return if @told.include?(room)

    @told << room
    patterns = [*SPECS[room], "#{room}/**", "unit/#{room}_*"]
    files = patterns.flat_map do |pattern|
      Dir[File.join(@root, '{,gems/*/}spec', "#{pattern.chomp('/**')}{/**/*,}.rb")]
    end
    count(files.uniq).first
  end
end
