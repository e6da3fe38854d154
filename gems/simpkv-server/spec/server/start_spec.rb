# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require_relative '../../../../spec/support/command'
require_relative 'server_helper'

RSpec.describe 'The start of the service' do
  include_context 'with a service'

  it 'runs no file of the current folder, and obeys no variable of Puma' do
    env = { 'WEB_CONCURRENCY' => '2', 'PUMA_MAX_THREADS' => '1' }
    service = Service.new(options, env: env)
    FileUtils.mkdir_p(File.join(service.folder, 'config'))
    File.write(File.join(service.folder, 'config', 'puma.rb'), "File.write('ran', '')")
    service.start
    expect(File).not_to exist(File.join(service.folder, 'ran'))
    expect(Dir.glob("/proc/#{service.pid}/task/*/children").map { |file| File.read(file) }.join).to eq('')
  ensure
    service&.stop
  end

  # It said nothing.
  it 'says that its memory has no limit of arenas where Ruby has no fiddle, and serves' do
    File.write(File.join(@root, 'fiddle.rb'), "raise LoadError, 'cannot load such file -- fiddle'")
    service = Service.new(options, env: { 'RUBYLIB' => @root })
    service.start
    expect(service.client.get('/healthz').status).to eq(200)
    expect(service.log.scan(/install that gem, or set MALLOC_ARENA_MAX=2$/).length).to eq(1)
  ensure
    service&.stop
  end

  # @return [Array(String, Integer)] the output and the exit code of a service that cannot start
  def start_on(path)
    Service.failure('-c', service.configuration, '--bind', "unix://#{path}")
  end

  it 'refuses the path of a file that is no socket, and keeps the file' do
    File.write(file = File.join(@root, 'precious'), 'bytes')
    File.symlink(file, link = File.join(@root, 'link'))
    expect([start_on(file), start_on(link)]).to all(match([include('no socket'), 78]))
    expect(File.read(file)).to eq('bytes')
  end

  it 'refuses the socket of a running service, and takes one that a killed service has left' do
    service.client
    expect(start_on(service.socket)).to match([include('another process listens'), 78])
    expect(client.get('/healthz').status).to eq(200)
    service.signal(:KILL)
    Process.wait(service.pid)
    service.start
    expect(client.get('/healthz').status).to eq(200)
  end

  it 'keeps serving if the configuration is wrong at SIGUSR2' do
    service.client
    service.configure(options.merge('server' => { 'threads' => 0 }))
    service.signal(:USR2)
    eventually(errors: RuntimeError) { service.log.include?('does not start anew') }
    expect(client.get('/healthz').status).to eq(200)
    service.configure(options)
    service.signal(:USR2)
    eventually(errors: RuntimeError) { service.log.scan('serving on').length == 2 }
    expect(client.get('/healthz').status).to eq(200)
  end

  it 'keeps serving with its rights if the configuration is missing at SIGHUP' do
    service.client
    File.rename(service.configuration, "#{service.configuration}.away")
    service.signal(:HUP)
    eventually(errors: RuntimeError) { service.log.include?('stay as they were') }
    expect(service.log).not_to include('terminated with exception')
    expect(client.get('/healthz').status).to eq(200)
  end
end
