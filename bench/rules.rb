# frozen_string_literal: true

require 'facter'
require 'json'
require 'tempfile'
$LOAD_PATH.unshift(*Dir[File.expand_path('../{lib,gems/*/lib}', __dir__)])
require_relative 'support/callgrind'
require_relative 'support/report'
require_relative 'support/versions'

# How long does the inspection of a node take, and how does that grow with the number of rules? The rules, of three
# conditions each, read the facts of this machine. All conditions of a rule run; the last one does not hold for nine of
# ten rules, and the tenth sets an attribute. An operation is that of the node terminus: from Ruby objects to Ruby
# objects.
class Inspections
  COUNTS = [100, 500, 1000, 2000].freeze

  def initialize
    @facts = JSON.parse(JSON.generate(Facter.to_hash))
    @input = { 'phases' => %w[preprocess main], 'inventory' => @facts, 'node' => { 'name' => 'node1.example.com' } }
  end

  # @return [Integer] the number of facts
  def facts
    @facts.length
  end

  # @return [Integer] the bytes of the facts
  def bytes
    JSON.generate(@facts).bytesize
  end

  # @return [Proc] inspects the node with that many rules
  def operation(count)
    rules = Simpkv::Native::Rules.new(source(count))
    lambda do
      outcome = Simpkv::Native.parse(rules.inspect_node(Simpkv::Native.generate(@input)))
      outcome.key?('error') ? raise(outcome['error'].to_s) : outcome
    end
  end

  # @return [Integer] those that the core takes for an inspection with that many rules
  def instructions(count)
    Tempfile.create('rules') do |rules|
      Tempfile.create('input') do |input|
        [rules, input].zip([source(count), JSON.generate(@input)]) { |file, text| file.tap { file << text }.flush }
        Callgrind.count_in_ruby('skv_rules_inspect', "rules = Simpkv::Native::Rules.new(File.read('#{rules.path}')); " \
                                                     "rules.inspect_node(File.read('#{input.path}'))")
      end
    end
  end

  private

  # @return [String] that many rules
  def source(count)
    JSON.generate('rules' => Array.new(count) { |number| rule(number) })
  end

  # @return [String] the field of a fact that every machine has
  def field(number)
    %w[{inventory[kernel]} {inventory[os][family]} {inventory[networking][hostname]}][number % 3]
  end

  def rule(number)
    matching = (number % 10).zero?
    { 'uuid' => format('00000000-0000-4000-8000-%012d', number), 'description' => "rule #{number}",
      'conditions' => [{ 'op' => '!eq', 'args' => [field(number), "value #{number}"] },
                       { 'op' => 'matches', 'args' => [field(number + 1), '[[:print:]]+'] },
                       { 'op' => matching ? 'contains' : '!contains', 'args' => [field(number + 2), '^\\w'] }],
      'actions' => [{ 'op' => 'set-attribute', 'args' => ["/parameters/p#{number}", "#{field(number)} #{number}"] }] }
  end
end

# Facter's warnings are on stdout.
Facter::Log.level = :error
inspections = Inspections.new
report = Report.new('Inspection rules')
operations = Inspections::COUNTS.to_h { |count| ["#{count} rules", inspections.operation(count)] }
matched = operations.transform_values { |operation| operation.call['rules'].length }
wrong = Inspections::COUNTS.reject { |count| matched["#{count} rules"] == count / 10 }
raise "unexpected matches: #{matched}" if wrong.any?

contestants = { 'no rules' => inspections.operation(0) }.merge(operations)
# Many short blocks: more of them run without interruption by other processes.
rows = report.add(SideBySide.run("inspection, #{inspections.facts} facts", contestants,
                                 equal: ->(outcome) { outcome['node']['name'] }, seconds: 0.001,
                                 blocks: SideBySide::QUICK ? 3 : 500))
instructions = [500, 2000].to_h { |count| [count, inspections.instructions(count)] }
report.note("The facts of this machine are #{inspections.bytes} bytes of JSON.",
            *instructions.map { |count, number| "An inspection with #{count} rules takes #{number} instructions." },
            'The growth of times is that of the fastest blocks, because other load of the machine only adds to them.')
median, best = %i[median best].map { |kind| ->(count) { Report.row(rows, "#{count} rules")[kind] } }
report.at_most('milliseconds for 500 rules', 5, median[500] * 1000)
# Linear growth is at most 4, 5 and 4, as each inspection also reads the facts. The rest is for the caches of the
# processor: each rule takes some kilobytes.
report.at_most('instructions for 2000 rules over those for 500', 4, instructions[2000].fdiv(instructions[500]))
report.at_most('time for 500 rules over time for 100', 5.5, best[500] / best[100])
report.at_most('time for 2000 rules over time for 500', 5, best[2000] / best[500])
report.print('rules', Versions.own.merge(Versions.of('libjansson4', 'libpcre2-8-0')))
