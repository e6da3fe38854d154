# frozen_string_literal: true

require 'fileutils'
require 'socket'
require 'tmpdir'
require_relative 'preloaded_ruby'

# A program in a folder of the PATH, for scripts and other programs. It needs not load what it uses: each run is a fork
# of a process that has loaded it. See {PreloadedRuby}.
#
#   program = PreloadedProgram.new { |arguments, **options| ruby.spawn("load 'bin/puppet'", arguments, **options) }
#   File.write('bin/puppet', program.script, perm: 0o755)
class PreloadedProgram
  # Gives its arguments, variables, folder, umask and streams to the process of the specs, and ends as the fork does.
  CLIENT = <<~RUBY
    UNIXSocket.open(ARGV.shift) do |socket|
      request = Marshal.dump([ARGV, ENV.to_h, Dir.pwd, File.umask])
      socket.write([request.bytesize].pack("N"), request)
      [$stdin, $stdout, $stderr].each { |stream| socket.send_io(stream) }
      code = socket.read(4).unpack1("N")
      code < 256 ? exit!(code) : Process.kill(code - 256, Process.pid)
    end
  RUBY
  private_constant :CLIENT

  # Starts to answer runs, until the specs end.
  #
  # @yieldparam arguments [Array<String>]
  # @yieldparam options [Hash] as for PreloadedRuby#spawn: env, chdir, umask and the streams
  # @yieldreturn [Integer] the ID of the process
  def initialize(&spawn)
    @spawn = spawn
    folder = Dir.mktmpdir('preloaded')
    RSpec.configuration.after(:suite) { FileUtils.remove_entry(folder) }
    @path = File.join(folder, 'socket')
    server = UNIXServer.new(@path)
    Thread.new { loop { Thread.new(server.accept) { |client| answer(client) } } }
  end

  # The client loads neither RubyGems nor Bundler.
  #
  # @return [String] the program
  def script
    ruby = "#{RbConfig.ruby} --disable-gems -rsocket"
    "#!/bin/sh\nunset RUBYOPT RUBYLIB\nexec #{ruby} -e '#{CLIENT}' -- #{@path} \"$@\"\n"
  end

  private

  def answer(client)
    request = client.read(client.read(4).unpack1('N'))
    arguments, variables, folder, umask = Marshal.load(request) # rubocop:disable Security/MarshalLoad -- of {CLIENT}
    streams = %i[in out err].to_h { |name| [name, client.recv_io] }
    others = ENV.to_h { |name, _| [name, nil] }
    pid = @spawn.call(arguments, env: others.merge(variables), chdir: folder, umask: umask, **streams)
    streams.each_value(&:close)
    status = Process.wait2(pid).last
    client.write([status.exitstatus || (256 + status.termsig)].pack('N'))
  ensure
    client.close
  end
end
