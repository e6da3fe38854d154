# frozen_string_literal: true

require 'json'
require_relative '../puppet_helper'
require_relative 'ds389'
require_relative 'scratch'
require_relative 'slapd'

# Lets processes, each with a catalog of its own, use one backend at the same moment.
module Race
  # By name, a lambda that passes the options of a new and empty backend to its block, and its server.
  BACKENDS = {
    'files' => lambda { |&block|
      Scratch.make('simpkv-race') do |dir|
        block.call({ 'type' => 'file', 'id' => 'race', 'root_path' => "#{dir}/k" }, nil)
      end
    },
    'OpenLDAP' => lambda { |&block|
      Slapd.run(limits: true) { |server| block.call(server.options('type' => 'ldap', 'id' => 'race'), server) }
    },
    '389-DS' => lambda { |&block|
      Ds389.run(limits: true) { |server| block.call(server.options('type' => 'ldap', 'id' => 'race'), server) }
    }
  }.freeze

  # Runs a block in each process. All processes start the block at the same time.
  #
  # @yieldparam world [PuppetWorld] each with a catalog of its own
  # @return [Array<Object>] the results of the blocks, after a round trip through JSON
  def at_once(count, site, environments: ['production'])
    gate, opener = IO.pipe
    children = Array.new(count) do |number|
      world = -> { PuppetWorld.new(environment: environments[number % environments.length], hiera: site) }
      begun(gate, opener, world) { |made| yield(made, number) }
    end
    outcomes_of(children.map(&:last)) { [gate, opener].each(&:close) }
  ensure
    [gate, opener].each(&:close)
    children.map(&:first).each { |pid| Process.wait(pid) }
  end

  # @yield when all processes wait for the gate
  def outcomes_of(readers)
    # An empty line, or the outcome of a process that has failed.
    first = readers.map { |reader| (reader.gets || raise('a process died before it began')).chomp }
    yield
    outcomes = readers.zip(first).map { |reader, line| JSON.parse(line.empty? ? reader.read : line) }
    outcomes.map { |outcome| outcome.fetch('answers') { raise outcome['failed'] } }
  end

  # @return [Array(Integer, IO)] a process, and its pipe: an empty line comes when it waits for the gate, and then the
  #   result of the block
  def begun(gate, opener, world, &block)
    reader, writer = IO.pipe
    pid = fork do
      opener.close
      answer(writer, gate, world, &block)
    end
    writer.close
    [pid, reader]
  end

  # Runs the block in a child process, which exits afterwards instead of continuing with the parent's examples.
  def answer(writer, gate, world)
    made = world.call
    made.adapter
    writer.puts
    gate.read
    writer.write(JSON.generate('answers' => yield(made)))
  rescue Exception => e # rubocop:disable Lint/RescueException -- the parent raises it
    writer.write(JSON.generate('failed' => "#{e.class}: #{e.message}"))
  ensure
    writer.close
    exit!(0)
  end

  # Calls the block for each key, in an order that differs between processes. Returns the results in the order of keys.
  def in_disorder(count, number)
    answers = (1..count).to_a.shuffle(random: Random.new(number)).map { |key| [key, yield(key)] }
    answers.sort_by(&:first).map(&:last)
  end
end
