# frozen_string_literal: true

require 'open3'
require 'yaml'
require_relative 'changed'

# Plants defects in a copy of the checkout, one at a time, and demands that a test fails that passes without the defect.
# spec/planted/*.yaml has the defects. Without arguments, it runs the test that each names; with `changed`, the tests
# that `bin/test changed` selects for the file. Other arguments choose the defects whose lines contain one of them. It
# must run in a copy, which it changes, and which `rake compile` has built: see the stage `planted`. An interrupt leaves
# the last defect in the copy.
class Planted
  # - `file`: that has the defect, relative to the root
  # - `from`: the text that the defect replaces, which the file has once
  # - `to`: what replaces it
  # - `because`: what a user would notice
  # - `test`: the spec or the C test that must fail
  # - `seam`: the two rooms, in seams.yaml; `promise`: the broken sentence of a page, in promises.yaml
  # - `changed`: false if `bin/test changed` does not select the test for the file: spec/unit/changed_spec.rb checks it
  Plant = Struct.new(:file, :from, :to, :because, :test, :seam, :promise, :changed, keyword_init: true) do
    # @return [Boolean] whether `from` is in the file, once
    def fits?
      File.exist?(file) && File.read(file).scan(from).length == 1
    end

    def c?
      file.start_with?('ext/')
    end

    # @return [Boolean] whether `bin/test changed` selects the test
    def selected?
      changed != false
    end

    def to_s
      "#{file}: #{seam || promise}"
    end

    # Plants the defect while the block runs.
    def planted
      sound = File.read(file)
      File.write(file, sound.sub(from) { to })
      yield
    ensure
      File.write(file, sound)
    end
  end

  # The seconds after which a test that hangs has failed.
  LIMIT = 900

  # The line of RSpec about examples that failed. A file that cannot be loaded has none.
  FAILED = /^\d+ examples?, [1-9]\d* failures?$/.freeze

  # @param root [String] the folder of the project
  # @return [Array<Plant>]
  def self.all(root = '.')
    files = Dir["#{root}/spec/planted/*.yaml"].sort
    rows = files.flat_map { |file| YAML.safe_load(File.read(file, encoding: 'UTF-8')) }
    rows.map { |row| Plant.new(**row.transform_keys(&:to_sym)) }
  end

  # @param words [Array<String>] that choose plants; none: all
  # @param tests [#call] returns the specs and the C tests for a plant
  def initialize(words, tests)
    @plants = self.class.all.select { |plant| words.empty? || words.any? { |word| plant.to_s.include?(word) } }
    @tests = tests
    @sound = {}
  end

  # Plants all, and prints a line for each.
  #
  # @return [Boolean] whether a test caught each of them
  def run
    outcomes = @plants.map { |plant| plant.fits? ? outcome(plant) : said(plant, 'does not fit') }
    caught = outcomes.count('caught')
    puts "planted: #{caught} passed, #{outcomes.length - caught} failed"
    caught == outcomes.length
  end

  private

  def outcome(plant)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    tests = @tests.call(plant)
    ruby = Changed.ruby(plant.file)
    result = plant.planted { plant.c? && !build ? 'does not compile' : tried(tests, ruby) }
    build if plant.c?
    result = 'fails always' if result == 'caught' && !sound?(tests, ruby)
    said(plant, result, (Process.clock_gettime(Process::CLOCK_MONOTONIC) - began).round)
  end

  def said(plant, result, seconds = 0)
    puts format('  %-16<result>s %4<seconds>d s  %<plant>s', result: result, seconds: seconds, plant: plant)
    $stdout.flush
    result
  end

  # @return [Boolean] whether the tests pass without a defect
  def sound?(tests, ruby)
    @sound.fetch([tests, ruby]) { |key| @sound[key] = tried(*key) == 'ESCAPED' }
  end

  # @return [String] `caught` if a test fails
  def tried(tests, ruby)
    return 'has no test' if tests.empty?

    specs, c_tests = tests.partition { |name| name.include?('/') }
    return 'caught' if c_tests.any? && run_c_tests(c_tests) == 'caught'

    specs.empty? ? 'ESCAPED' : run_specs(specs, ruby)
  end

  def run_c_tests(names)
    execute({}, 'make', '-C', 'ext/core', '-j2', 'test', "ONLY=#{names.join(' ')}").last ? 'ESCAPED' : 'caught'
  end

  def run_specs(files, ruby)
    output, passed = execute({ 'SIMPKV_NATIVE' => ruby.to_s, 'BUNDLE_WITH' => 'server' },
                             'bundle', 'exec', 'rspec', '--fail-fast', *files)
    return 'ESCAPED' if passed
    return 'caught' if output.match?(FAILED) || output.include?('timeout: sending')

    puts output
    'cannot be tested'
  end

  def build
    output, built = execute({}, 'bundle', 'exec', 'rake', 'compile')
    built || puts(output)
    built
  end

  # @return [Array(String, Boolean)] the output of a command, and whether it succeeded
  def execute(variables, *command)
    output, status = Open3.capture2e(variables, 'timeout', '--verbose', '--kill-after=10', LIMIT.to_s, *command)
    [output.scrub, status.success?]
  end
end

if $PROGRAM_NAME == __FILE__
  by_change = ARGV.first == 'changed'
  found = [ChangedRuby.new, ChangedCore.new]
  tests = lambda do |plant|
    next [plant.test] unless by_change

    Changed.new([plant.file], ruby: found.first, core: found.last).then { |changed| changed.specs + changed.c_tests }
  end
  exit Planted.new(by_change ? ARGV.drop(1) : ARGV, tests).run
end
