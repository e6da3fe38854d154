# frozen_string_literal: true

require_relative 'changed_core'
require_relative 'changed_ruby'

# Selects the tests of files that have changed: those that are named after a file, those that use it, and those of its
# room and of its users, the nearest first, until they take {MINUTES}. Needs only Ruby and a C compiler: bin/test asks
# it before it installs what the tests need.
class Changed
  # The minutes that the selected tests may take, by the estimate. Those that are nearest run in any case.
  MINUTES = Integer(ENV.fetch('CHANGED_MINUTES', '5'))

  # Tests at this distance or nearer always run. See {ChangedRuby} and {ChangedCore}, which measure it.
  NEAREST = 0.5

  # The seconds that the specs of each folder take together, and the C tests: half of the time of their stages in
  # `bin/test all`, in which four stages share two processors. A file has a share of it by its lines.
  SECONDS = { 'access' => 150, 'availability' => 135, 'bolt' => 45, 'classes' => 15, 'clients' => 20, 'command' => 330,
              'conformance' => 80, 'console' => 210, 'distribution' => 80, 'estate' => 135, 'faults' => 80,
              'fresh' => 75, 'functions' => 40, 'integration' => 340, 'load' => 80, 'package' => 280,
              'puppetdb' => 110, 'puppetserver' => 220, 'query' => 60, 'server' => 170, 'types' => 120, 'unit' => 95,
              'core' => 110 }.freeze

  # Files that no test can read: texts, pictures, settings of editors and linters.
  NO_CODE = %r{\.(?:adoc|md|png|svg|tsv|txt|lock|supp|yardopts|rspec)\z|\A(?:LICENSE|\.[\w.-]+|\.github/.*\.md)\z|
               \Abench/results/|\Aspec/fixtures/|\Aext/core/fuzz/corpus/}x.freeze
  private_constant :SECONDS, :NO_CODE

  # @return [Array<String>] the files that differ from the branch main, and those that git does not track
  def self.files
    base = `git merge-base HEAD origin/main 2> /dev/null || git merge-base HEAD main`.strip
    raise 'this checkout has no branch main to compare with' if base.empty?

    `git diff --name-only #{base} && git ls-files --others --exclude-standard`.lines(chomp: true).uniq
  end

  # @param file [String] that has changed
  # @return [Symbol] the Ruby that runs its specs: the extension never loads the Ruby of the other binding
  def self.ruby(file)
    file.start_with?('lib/simpkv/native/') && File.basename(file) != 'cext.rb' ? :ffi : :cext
  end

  # @return [Array<String>] the changed files
  attr_reader :files

  # @param files [Array<String>] names relative to the root, in which this must run
  # @param ruby [ChangedRuby] of this state of the checkout
  # @param core [ChangedCore]
  def initialize(files = self.class.files, ruby: ChangedRuby.new, core: ChangedCore.new)
    @files = files
    @ruby = ruby
    @core = core
  end

  # @return [Array<String>] the specs, the nearest first
  def specs
    selected.select { |name| name.end_with?('_spec.rb') }
  end

  # @return [Array<String>] the names of C tests
  def c_tests
    selected.grep(/\Atest_/)
  end

  # @return [Array<String>] the names of fuzzers
  def fuzzers
    selected.grep(/\Afuzz_/)
  end

  # @return [Array<String>] files of code for which no test is found
  def untested
    files.select { |file| File.file?(file) && !file.match?(NO_CODE) && distances(file).empty? }
  end

  # @return [Array<String>] options of RSpec that leave out examples: those that need much, and that no changed file
  #   names
  def options
    left_out.flat_map { |tag| ['--tag', "~#{tag}"] }
  end

  # @return [Array<String>] the arguments for bin/setup
  def needs
    ['test', *@ruby.needs(specs), *('fuzz' if fuzzers.any?), *(%w[ds389 tools] - left_out)].uniq
  end

  # @return [Hash{String => String}] the variables with which the bundle has the gems that the specs need
  def variables
    (needs & %w[all browser puppetdb service]).any? ? { 'BUNDLE_WITH' => 'server' } : {}
  end

  # @return [Array<Symbol>] the Rubies that run the specs: see {Rubies}
  def rubies
    files.map { |file| self.class.ruby(file) }.uniq
  end

  # @return [String] what will run, and for how long
  def plan
    seconds = selected.sum { |test| seconds(test) }
    rest = near.keys - selected
    said = "#{files.length} files differ from main: #{specs.length} files of specs, #{(c_tests + fuzzers).length} C " \
           "tests, about #{(seconds / 60).ceil} minutes."
    return said if rest.empty?

    "#{said} #{rest.length} more tests of users would take about #{(rest.sum { |test| seconds(test) } / 60).ceil} " \
      'minutes: CHANGED_MINUTES=60 runs them, and so does bin/test all.'
  end

  private

  # @return [Array<String>] tags of examples
  def left_out
    texts = files.select { |file| File.file?(file) }.map { |file| File.read(file, encoding: 'BINARY') }
    { 'ds389' => /389/, 'tools' => /\btools\b/ }.reject { |_, sign| texts.any?(sign) }.keys
  end

  # @return [Array<String>] the tests that run, the nearest first
  def selected
    @selected ||= begin
      left = MINUTES * 60
      near.select { |test, distance| distance <= NEAREST || (seconds(test) <= left && left -= seconds(test)) }.keys
    end
  end

  # @return [Hash{String => Float}] all tests that have to do with the files, by their distance
  def near
    @near ||= files.map { |file| distances(file) }
                   .reduce({}) { |all, some| all.merge(some) { |_, *two| two.min } }
                   .sort_by { |test, distance| [distance.round(1), seconds(test), test] }.to_h
  end

  def distances(file)
    @distances ||= {}
    @distances[file] ||= @core.distances(file).merge(@ruby.distances(file, @core.bound(file)))
  end

  def seconds(test)
    return SECONDS.fetch('core') / ChangedCore.tests.length.to_f unless test.include?('/')

    SECONDS.fetch(@ruby.folder(test), 60) * @ruby.share(test)
  end
end

if $PROGRAM_NAME == __FILE__
  changed = Changed.new(*(ARGV.any? ? [ARGV] : []))
  abort "bin/test changed: no test is found for #{changed.untested.join(', ')}" if changed.untested.any?
  warn changed.plan
  puts changed.needs.join(' ')
end
