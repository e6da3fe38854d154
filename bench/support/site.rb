# frozen_string_literal: true

require 'digest/sha2'
require 'fileutils'
require 'securerandom'
require 'yaml'
require_relative 'contest'

# Keys in files, a thousand in a folder, and a directory server to move them to: each time into an instance that is new.
class Site
  COMMAND = [RbConfig.ruby, File.expand_path('../../exe/simpkv', __dir__)].freeze
  IN_A_FOLDER = 1000

  # A contestant: what is prepared before, and tidied up after, does not count.
  Contestant = Struct.new(:site, :operation) do
    # @return [nil] it is not known
    def processor; end

    def answer
      time(1)
      nil
    end

    # @return [Float] seconds
    def time(_count)
      site.fresh { |id| site.public_send(operation, id) }
    end
  end

  # @param server [DirectoryServer]
  # @param count [Integer] how many keys
  # @param uri [String] where commands find the server
  # @yieldparam site [Site]
  def self.at(server, count, uri)
    Dir.mktmpdir('site') { |folder| yield new(server, count, uri, folder) }
  end

  def initialize(server, count, uri, folder)
    @server = server
    @count = count
    @uri = uri
    @folder = folder
    @number = 0
    @name = "site-#{SecureRandom.hex(4)}"
    count.times do |number|
      parent = File.join(folder, 'files/environments/production', "app#{number / IN_A_FOLDER}")
      FileUtils.mkdir_p(parent) if (number % IN_A_FOLDER).zero?
      File.write(File.join(parent, "key#{number}"), document(number))
    end
  end

  # @return [Hash{String => Contestant}]
  def contestants
    { 'ldapadd' => Contestant.new(self, :ldapadd), 'simpkv copy' => Contestant.new(self, :copy) }
  end

  # Times a block with an instance that is empty, and empties it.
  #
  # @return [Float] seconds
  def fresh
    id = "#{@name}-#{@number += 1}"
    prepare(id)
    began = now
    yield id
    (now - began).tap { empty(id) }
  end

  def ldapadd(id)
    run('ldapadd', '-x', '-H', @uri, '-D', DirectoryServer::USER_DN, '-y', @server.password_file,
        '-f', file("#{id}.ldif"))
  end

  def copy(id)
    run(*COMMAND, 'copy', 'files', 'directory', '--journal', file("#{id}.journal"), '-o', 'json')
  end

  # All of it to the directory, killed twice on the way, and back.
  #
  # @param name [String] of the server
  # @return [Array<String>] lines of a table
  def there_and_back(name)
    id = "#{@name}-#{@number += 1}"
    configure(id)
    rows = [*killed(id), step('files', 'directory', '--resume', '--journal', file("#{id}.journal")),
            step('directory', 'back')]
    raise 'the files that came back differ' unless system('diff', '-rq', file('files'), file('back'))

    empty(id)
    ["#{@count} keys from files to #{name} and back, every file as it was:", '',
     '| step | stored | seconds | keys/s |', '|---|---:|---:|---:|', *rows]
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def file(name)
    File.join(@folder, name)
  end

  def document(number)
    %({"value":{"password":"#{Digest::SHA256.hexdigest(number.to_s)}"},"metadata":{"number":#{number}}})
  end

  def configure(id)
    directory = @server.options('type' => 'ldap', 'ldap_uri' => @uri, 'id' => id)
    places = %w[files back].to_h { |name| [name, { 'type' => 'file', 'id' => name, 'root_path' => file(name) }] }
    File.write(file('simpkv.yaml'), { 'backends' => places.merge('directory' => directory) }.to_yaml)
  end

  # The same entries as simpkv makes.
  def prepare(id)
    configure(id)
    base = DirectoryServer::BASE_DN
    add(Simpkv::Store.open('ldap', @server.options('id' => id)), base)
    folders = ["ou=#{id},ou=instances,#{base}"]
    %w[environments production].each { |name| folders << "ou=#{name},#{folders.last}" }
    apps = Array.new((@count.to_f / IN_A_FOLDER).ceil) { |number| "ou=app#{number},#{folders.last}" }
    File.open(file("#{id}.ldif"), 'w') do |out|
      [*folders, *apps].each do |dn|
        out.puts("dn: #{dn}", 'objectClass: organizationalUnit', "ou: #{dn[/ou=([^,]+)/, 1]}", '')
      end
      @count.times do |number|
        out.puts("dn: simpkvKey=key#{number},#{apps[number / IN_A_FOLDER]}", 'objectClass: simpkvEntry',
                 "simpkvKey: key#{number}", "simpkvJsonValue: #{document(number)}", '')
      end
    end
  end

  # What instances have in common is there for both.
  def add(store, base)
    store.add_entry("ou=instances,#{base}", 'objectClass' => ['organizationalUnit'], 'ou' => ['instances'])
  ensure
    store.close
  end

  def empty(id)
    FileUtils.rm_f([file("#{id}.ldif"), file("#{id}.journal")])
    store = Simpkv::Store.open('ldap', @server.options('id' => id, 'operation_timeout_seconds' => 600))
    store.deletetree('environments')
  ensure
    store.close
  end

  def environment
    Contest::OUTSIDE.merge('SIMPKV_CONFIG' => file('simpkv.yaml'))
  end

  def run(*command)
    system(environment, *command, out: File::NULL, err: file('errors')) or
      raise "#{command.first(2).join(' ')} failed: #{File.read(file('errors')).lines.last(3).join}"
  end

  # Two processes that are killed, each when some of the keys are there.
  def killed(id)
    [0.3, 0.6].each_with_index.map do |part, round|
      journal = file("#{id}.journal")
      began = now
      pid = spawn(environment, *COMMAND, 'copy', 'files', 'directory', '--journal', journal,
                  *('--resume' if round.positive?), out: File::NULL, err: file('errors'))
      sleep 0.01 until File.exist?(journal) && File.foreach(journal).count >= @count * part
      Process.kill('KILL', pid)
      Process.wait(pid)
      "| files to directory, killed with #{(part * 100).round} % in the journal | | #{(now - began).round(1)} | |"
    end
  end

  def step(from, to, *more)
    report = JSON.parse(IO.popen([environment, *COMMAND, 'copy', from, to, '-o', 'json', *more,
                                  { err: file('errors'), chdir: @folder }], &:read))
    raise "#{from} to #{to}: #{File.read(file('errors'))}" unless report['verified']

    "| #{from} to #{to}#{', resumed' if more.any?} | #{report['stored']} | #{report['seconds']} | " \
      "#{(report['stored'] / report['seconds']).round} |"
  end
end
