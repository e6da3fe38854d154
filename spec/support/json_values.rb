# frozen_string_literal: true

require 'digest'

# Generates plain data of every type from a seed. It has its own random number generator, so that the data are the same
# on every Ruby.
#
# As a program, run by the MRI whose json is the reference (2.6.1, Ruby 3.1), it prints the content of
# json_values.sha256: digests of the documents that JSON.generate returns for the values, a hundred for each line.
class JsonValues
  # The seed of the values in json_values.sha256.
  SEED = 20_210_401
  COUNT = 10_000
  BLOCK = 100
  DIGESTS = File.expand_path('json_values.sha256', __dir__)

  MASK = (1 << 64) - 1
  CHARACTERS = [
    0x00..0x1f, 0x20..0x7e, [0x22, 0x5c, 0x2f, 0x7f], 0x80..0xff, 0x370..0x3ff, [0x301, 0x5d0, 0x200d, 0x2028, 0x2029],
    0x4e00..0x4eff, [0xd7ff, 0xe000, 0xf8ff, 0xfdd0, 0xfeff, 0xfffd, 0xfffe, 0xffff], 0x10000..0x10010,
    0x1f600..0x1f640, [0xe0001, 0xfffff, 0x100000, 0x10ffff]
  ].map { |set| set.to_a.freeze }.freeze
  INTEGERS = [0, 1, -1, 1 << 30, 1 << 31, 1 << 32, 1 << 53, 1 << 61, 1 << 62, 1 << 63, 1 << 64, 10**18, 10**19,
              10**30, 1 << 200].flat_map { |n| [n - 1, n, n + 1, -n - 1, -n, -n + 1] }.freeze
  FLOATS = [0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e15, 1e16, 1e-4, 9.898].freeze
  private_constant :MASK, :CHARACTERS, :INTEGERS, :FLOATS

  # The digests of all blocks, as MRI made them.
  def self.digests
    File.readlines(DIGESTS, chomp: true)
  end

  def self.digest(documents)
    Digest::SHA256.hexdigest(documents.join("\n"))
  end

  def self.float(bits)
    [bits].pack('Q>').unpack1('G')
  end

  def self.bits(float)
    [float].pack('G').unpack1('Q>')
  end

  def initialize(seed)
    # Not 0, because xorshift would only return 0.
    @state = ((seed * 0x9e3779b97f4a7c15) + 1) & MASK
  end

  # @yield [value, metadata] that many pairs of plain data
  def each_pair(count)
    return enum_for(:each_pair, count) unless block_given?

    count.times { |i| yield(value(i), i % 3 == 0 ? hash(1) : {}) }
  end

  def value(index = 0)
    case index % 10
    when 0 then float
    when 1 then integer
    when 2, 3 then string
    when 4 then nested(random(96) + 1)
    when 5 then hash(4)
    when 6 then array(4)
    else any(3)
    end
  end

  # Numbers from the whole range: random bits, powers of two and of ten and their neighbours, usual numbers, the limits.
  def float
    number = __send__(%i[any_float near_power_of_two near_power_of_ten short_float special_float][random(5)])
    return float unless number.finite?

    random(2).zero? ? number : -number
  end

  def integer
    case random(3)
    when 0 then INTEGERS[random(INTEGERS.length)]
    when 1 then random(1 << 64) - (1 << 63)
    else random(2000) - 1000
    end
  end

  def string
    length = random(4).zero? ? random(200) : random(20)
    kind = random(3)
    Array.new(length) { character(kind.zero? ? 1 : random(CHARACTERS.length)) }.pack('U*')
  end

  def random(limit)
    @state ^= (@state << 13) & MASK
    @state ^= @state >> 7
    @state ^= (@state << 17) & MASK
    @state % limit
  end

  private

  def any_float
    JsonValues.float(random(1 << 64))
  end

  def near_power_of_two
    JsonValues.float([(random(2047) << 52) + random(3) - 1, 0].max)
  end

  def near_power_of_ten
    JsonValues.float([JsonValues.bits("1e#{random(632) - 323}".to_f) + random(5) - 2, 0].max)
  end

  def short_float
    random(10**(random(17) + 1)).to_f / (10**random(20))
  end

  def special_float
    FLOATS[random(FLOATS.length)]
  end

  def character(set)
    CHARACTERS[set][random(CHARACTERS[set].length)]
  end

  def any(depth)
    case random(depth.zero? ? 6 : 8)
    when 0 then [nil, true, false][random(3)]
    when 1 then integer
    when 2 then float
    when 3..5 then string
    when 6 then array(depth - 1)
    else hash(depth - 1)
    end
  end

  def array(depth)
    Array.new(random(6)) { any(depth) }
  end

  def hash(depth)
    Array.new(random(6)) { [string, any(depth)] }.to_h
  end

  def nested(depth)
    (1..depth).reduce(any(1)) { |inner, _| random(2).zero? ? [inner] : { string => inner } }
  end
end

if $PROGRAM_NAME == __FILE__
  require 'json'
  abort "the oracle is json 2.6.1 on MRI, not #{JSON::VERSION} on #{RUBY_ENGINE}" unless
    RUBY_ENGINE == 'ruby' && JSON::VERSION == '2.6.1'

  documents = JsonValues.new(JsonValues::SEED).each_pair(JsonValues::COUNT).map do |value, metadata|
    JSON.generate('value' => value, 'metadata' => metadata)
  end
  documents.each_slice(JsonValues::BLOCK) { |block| puts JsonValues.digest(block) }
end
