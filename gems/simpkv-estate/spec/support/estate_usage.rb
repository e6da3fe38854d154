# frozen_string_literal: true

# The resources that a puppetserver uses at one moment.
#
# live:: the bytes of live objects, by Java class
# native:: the bytes that the C library has allocated
# resident:: bytes
# files, threads, runs:: their numbers
EstateUsage = Struct.new(:live, :native, :resident, :files, :threads, :runs, keyword_init: true) do
  # @param pid [Integer] of the server
  # @param runs [Integer] the number of runs so far
  # @param memory [Hash{String => Object}] `table`, Java's histogram of classes, and `native`
  # @return [EstateUsage]
  def self.of(pid, runs, memory)
    status = File.read("/proc/#{pid}/status")
    new(live: classes(memory['table']), native: memory['native'], runs: runs,
        resident: status[/VmRSS:\s*(\d+)/, 1].to_i << 10, files: Dir.children("/proc/#{pid}/fd").length,
        threads: status[/Threads:\s*(\d+)/, 1].to_i)
  end

  # @param table [String] Java's histogram of classes
  # @return [Hash{String => Integer}] bytes by class
  def self.classes(table)
    table.scan(/^ *\d+: +\d+ +(\d+) +(\S+)/).to_h { |bytes, name| [name, Integer(bytes)] }
  end
  private_class_method :classes

  # @return [Integer] the bytes of all live objects but for arrays of integers, with which the collector fills gaps
  def heap
    live.values.sum - live.fetch('[I', 0)
  end

  # @return [Integer] the bytes of the objects that hold data of Ruby code and handles of the core. The others are
  #   Java's, such as the code that JRuby builds
  def data
    jruby = /\A(\[L)?org\.jruby\.(Ruby|util\.ByteList|specialized|runtime\.builtin|ext\.ffi)/
    live.values_at('[B', *live.keys.grep(jruby), *live.keys.grep(/com\.kenai/)).sum
  end

  # @return [Hash{Symbol => Numeric}] the growth since another moment
  def since(other)
    %i[data heap native resident files threads runs].to_h { |name| [name, send(name) - other.send(name)] }
  end

  # @return [Hash{String => Integer}] the classes whose objects have grown most since another moment, and the bytes
  def grown_most(other)
    growth = live.to_h { |name, bytes| [name, bytes - other.live.fetch(name, 0)] }
    growth.reject { |name, _| name == '[I' }.max_by(5, &:last).to_h
  end

  def to_s
    "#{runs} runs: #{data >> 10} KiB of data, heap #{heap >> 20}, native #{native >> 20} and resident " \
      "#{resident >> 20} MiB, #{files} files, #{threads} threads"
  end
end
