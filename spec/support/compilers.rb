# frozen_string_literal: true

require 'json'
require_relative '../puppet_helper'
require_relative 'eventually'
require_relative 'processes'

# Compilers of a site, each a process that compiles one catalog after the other until it is stopped.
#
# A reading compiler reads keys that exist, as most catalogs do, also with get_or_create. A writing one stores a new key
# in each catalog, and gets or creates one that all writing compilers want to create.
class Compilers
  include Eventually
  include Processes

  # A catalog of a compiler. `error` is nil unless it failed; a writing compiler has `stored` its number and received
  # `chosen` for the key that all want.
  Catalog = Struct.new(:number, :error, :stored, :chosen, keyword_init: true)

  # Not enough catalogs have been compiled yet.
  class Waiting < StandardError; end

  # The pause between two catalogs of a compiler, in seconds.
  PAUSE = 0.1

  READING = <<~PUPPET
    $url = simpkv::get('app/url')['value']
    $password = simpkv::get_or_create('app/password') |$key| { 'another one' }
    $names = simpkv::list('app')['keys'].keys.sort.join(' ')
    notify { "${url} ${password['value']} ${names}": }
  PUPPET
  STORED = { 'url' => 'http://app', 'password' => 'first' }.freeze
  private_constant :PAUSE, :READING, :STORED

  # @param folder [String] for files
  def initialize(folder)
    @folder = folder
    @running = Hash.new { |all, kind| all[kind] = [] }
    @sites = {}
    @lock = Mutex.new
  end

  # Stores what reading compilers read.
  #
  # @param store [Simpkv::Store]
  def self.prepare(store)
    STORED.each { |name, value| store.put("environments/production/app/#{name}", JSON.generate('value' => value)) }
  end

  # Starts a compiler.
  #
  # @param kind [Symbol] :reading or :writing
  # @param site [Hash] its options
  # @return [void]
  def start(kind, site)
    file = File.join(@folder, "site-#{@running.values.sum(&:length)}")
    number = @running[kind].length
    write_site(file, site)
    stop, stopper = IO.pipe
    reader, writer = IO.pipe
    pid = child do
      stopper.close
      compile(kind, number, file, stop, writer)
    end
    [stop, writer].each(&:close)
    @running[kind] << { pid: pid, site: file, stopper: stopper, catalogs: [], thread: nil }
    listen(@running[kind].last, reader)
  end

  # Gives all compilers of a kind other options, as an operator does who changes Hiera's data.
  def configure(kind, site)
    @running[kind].each { |compiler| write_site(compiler[:site], site) }
  end

  # Waits until each compiler has compiled more catalogs.
  #
  # @param good [Boolean] whether only those count that did not fail
  # @param numbers [Hash{Symbol => Integer}] by kind, how many
  # @return [void]
  def wait(good: false, **numbers)
    wanted = numbers.flat_map do |kind, number|
      @running[kind].map { |compiler| [compiler, count(compiler, good) + number] }
    end
    eventually(errors: Waiting, within: 90) { wanted.all? { |compiler, number| count(compiler, good) >= number } }
  end

  # @return [Array<String>] the errors of the failed catalogs of a kind since the last call
  def errors(kind)
    catalogs(kind).select { |catalog| catalog.error && !reported.include?(catalog.object_id) }.map do |catalog|
      reported << catalog.object_id
      catalog.error
    end
  end

  # @return [Array<Array<Catalog>>] those of each compiler of a kind so far
  def all(kind)
    @lock.synchronize { @running[kind].map { |compiler| compiler[:catalogs].dup } }
  end

  # Stops all compilers. Raises an error if one of them has died.
  def stop
    running = @running.values.flatten
    @running.each_value { |compilers| compilers.each { |compiler| compiler[:stopper].close } }
    died = running.reject { |compiler| compiler[:pid].nil? || status_of(compiler.delete(:pid)).success? }
    running.each { |compiler| compiler[:thread].join }
    raise 'a compiler died' if died.any?
  end

  private

  def reported
    @reported ||= []
  end

  def catalogs(kind)
    all(kind).flatten
  end

  def count(compiler, good)
    @lock.synchronize { compiler[:catalogs].count { |catalog| !good || catalog.error.nil? } }
  end

  # A compiler never reads half a file.
  def write_site(file, site)
    File.write("#{file}.new", JSON.generate(site))
    File.rename("#{file}.new", file)
  end

  def listen(compiler, reader)
    compiler[:thread] = Thread.new do
      reader.each_line do |line|
        catalog = Catalog.new(**JSON.parse(line, symbolize_names: true))
        @lock.synchronize { compiler[:catalogs] << catalog }
      end
    end
  end

  # ---- In a compiler

  # @return [true]
  def compile(kind, number, file, stop, writer)
    world = PuppetWorld.new
    catalogs = 0
    until stop.wait_readable(PAUSE)
      world.hiera = { 'backends' => { 'default' => JSON.parse(File.read(file)) } }
      catalog = kind == :reading ? reading(world) : writing(world, number, catalogs += 1)
      writer.puts(JSON.generate(catalog))
      writer.flush
    end
    world.close
    true
  end

  def reading(world)
    title = title_of(world.compile(READING))
    title == 'http://app first password url' ? {} : { error: "another catalog: #{title}" }
  rescue Puppet::Error => e
    { error: e.message }
  end

  def writing(world, compiler, number)
    title = title_of(world.compile(<<~PUPPET))
      simpkv::put('load/w#{compiler}/k#{number}', #{number})
      $chosen = simpkv::get_or_create('shared/k#{number}') |$key| { 'w#{compiler}' }
      notify { $chosen['value']: }
    PUPPET
    { number: number, stored: "load/w#{compiler}/k#{number}", chosen: title }
  rescue Puppet::Error => e
    { number: number, error: e.message }
  end

  def title_of(catalog)
    catalog.resources.find { |resource| resource.type == 'Notify' }.title
  end
end
