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

  # @param hundreds [Boolean] whether lines are rounded up to hundreds, so that the table seldom changes
  # @return [String] a table in Markdown
  def table(hundreds: false)
    rows = [core, *@rooms.by_gem.flat_map { |gem, rooms| rooms.map { |room, files| row(gem, room, files) } }]
    rows = rows.map { |row| rounded(row) } if hundreds
    [HEAD, HEAD.map { '---' }, *rows].map { |cells| "| #{cells.join(' | ')} |" }.join("\n")
  end

  private

  # Rounds the three numbers of lines.
  def rounded(row)
    row.each_with_index.map { |cell, index| (3..5).cover?(index) ? cell.fdiv(100).ceil * 100 : cell }
  end

  def row(gem, room, files)
    code, comments = count(files.map { |file| File.join(@root, @rooms.path(file)) })
    [gem, room, files.length, code, comments, tests(gem, room), @rooms.rooms_used_by(files).join(', ')]
  end

  # @return [Array] the row of the core in C
  def core
    code, comments = count(Dir[File.join(@root, 'ext/{core/{src,include},simpkv}/**/*.{c,h}')])
    tests, = count(Dir[File.join(@root, 'ext/core/test/**/*.{c,h}')])
    files = Dir[File.join(@root, 'ext/{core/{src,include},simpkv}/**/*.{c,h}')].length
    ['simpkv', 'ext', files, code, comments, tests, 'libldap, jansson, PCRE2, OpenSSL, libxcrypt']
  end

  # @return [Array(Integer, Integer)] lines of code, and of comments
  def count(files)
    lines = files.flat_map { |file| File.readlines(file, encoding: 'UTF-8').map(&:strip) }.reject(&:empty?)
    comments = lines.count { |line| line.match?(%r{\A(?:/\*|\*[ /]|//|\#(?!include|define|if|else|endif|undef))}) }
    [lines.length - comments, comments]
  end

  # @return [Integer] lines of the specs of a room in a gem
  def tests(gem, room)
    folder = File.join(@root, *(['gems', gem] unless gem == 'simpkv'), 'spec')
    patterns = room == '.' ? [] : [*SPECS[room], "#{room}/**", "unit/#{room}_*"]
    files = patterns.flat_map { |pattern| Dir[File.join(folder, "#{pattern.chomp('/**')}{/**/*,}.rb")] }
    count(files.uniq).first
  end
end
