# frozen_string_literal: true

require 'rbconfig'
require 'socket'

# Programs of Ruby in processes of their own that need not load what they use: each one is a fork of a process that has
# loaded it, and a child of this process.
#
#   ruby = PreloadedRuby.new("require 'puppet'")
#   pid = ruby.spawn("load 'bin/puppet'", %w[--version], out: file)
#   Process.wait(pid)
class PreloadedRuby
  # Runs in the process that is forked, with the number of its socket in ARGV. It forks twice. The process between them
  # ends, so that the kernel gives the new one to the process that asked for it. A program finds no variable of it.
  SERVER = <<~RUBY
    lambda do |socket|
      GC.start
      while (size = socket.read(4))
        program, name, arguments, variables, folder, umask = Marshal.load(socket.read(size.unpack1('N')))
        streams = Array.new(3) { socket.recv_io }
        reader, writer = IO.pipe
        between = fork do
          pid = fork do
            [socket, reader, writer].each(&:close)
            [$stdin, $stdout, $stderr].zip(streams) { |stream, io| stream.reopen(io) }
            streams.each(&:close)
            $stderr.sync = true
            Dir.chdir(folder)
            File.umask(umask)
            ENV.replace(variables)
            ARGV.replace(arguments)
            $0 = name
            TOPLEVEL_BINDING.eval(program, name)
          end
          writer.write([pid].pack('N'))
          exit!(0)
        end
        Process.wait(between)
        socket.write(reader.read(4))
        [reader, writer, *streams].each(&:close)
      end
      exit!(0)
    end.call(UNIXSocket.for_fd(Integer(ARGV.shift)))
  RUBY

  # The options by which a Ruby finds the gems of this checkout.
  LIBRARY = Dir[File.expand_path('../../{lib,gems/*/lib}', __dir__)].map { |folder| "-I#{folder}" }.freeze

  # See prctl(2).
  PR_SET_CHILD_SUBREAPER = 36
  # One for all instances: the process has that attribute, and an instance that resets it would orphan the child of
  # another one.
  LOCK = Mutex.new
  private_constant :SERVER, :PR_SET_CHILD_SUBREAPER, :LOCK

  # @param libraries [String] Ruby code that loads them, and starts no thread
  # @param arguments [Array<String>] of Ruby
  # @param env [Hash{String => String, nil}] the variables of the process that differ from those of this one
  def initialize(libraries, arguments = [], env = {})
    @command = [env, RbConfig.ruby, *arguments, '-rsocket', '-e', "#{libraries}\n#{SERVER}"]
    @env = env
  end

  # Starts a program.
  #
  # @param program [String] Ruby code
  # @param arguments [Array<String>] ARGV
  # @param env [Hash{String => String, nil}] variables beside those of {#initialize}. Ruby itself does not read them
  # @param name [String] `$PROGRAM_NAME`
  # @param chdir [String] its working folder
  # @param umask [Integer]
  # @param streams [Hash{Symbol => IO}] `in`, `out` and `err`, if they are not those of this process
  # @return [Integer] the ID of the process, a child of this one
  def spawn(program, arguments, env: {}, name: '-e', chdir: Dir.pwd, umask: File.umask, **streams)
    variables = ENV.to_h.merge(@env, env).compact
    request = Marshal.dump([program, name, arguments, variables, chdir, umask])
    LOCK.synchronize do
      socket.write([request.bytesize].pack('N'), request)
      adopting do
        %i[in out err].each_with_index { |key, number| socket.send_io(streams.fetch(key, number)) }
        (socket.read(4) || raise('the process with the libraries has ended')).unpack1('N')
      end
    end
  end

  # Runs a program, whose input is empty, as Open3.capture2e does.
  #
  # @return [Array(String, Process::Status)] what it printed, and how it ended
  def capture2e(program, arguments, **options)
    reader, writer = IO.pipe
    pid = File.open(File::NULL) { |null| spawn(program, arguments, in: null, out: writer, err: writer, **options) }
    writer.close
    [reader.read, Process.wait2(pid).last]
  ensure
    reader&.close
  end

  private

  # @return [UNIXSocket] connected to the process that is forked
  def socket
    return @socket if @owner == Process.pid # It is of no use in a fork of this process.

    @owner = Process.pid
    @socket = begin
      own, other = UNIXSocket.pair
      variables, *command = @command
      Process.detach(Process.spawn(variables, *command, other.fileno.to_s, other => other))
      other.close
      own
    end
  end

  # Has this process become the parent of orphans below it meanwhile. Those of a server that is killed later must not.
  def adopting
    subreaper(1)
    yield
  ensure
    subreaper(0)
  end

  def subreaper(state)
    require 'fiddle'
    long = Fiddle::TYPE_LONG
    @prctl ||= Fiddle::Function.new(Fiddle.dlopen(nil)['prctl'], [Fiddle::TYPE_INT, *([long] * 4)], Fiddle::TYPE_INT)
    raise 'prctl(PR_SET_CHILD_SUBREAPER) failed' unless @prctl.call(PR_SET_CHILD_SUBREAPER, state, 0, 0, 0).zero?
  end
end
