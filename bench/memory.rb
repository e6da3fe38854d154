# frozen_string_literal: true

require 'json'
require_relative 'support/contest'

# How much memory a process has after many gets, by the adapter, more than after some.
FEW, MANY = SideBySide::QUICK ? [100, 1000] : [10_000, 1_000_000]
PROGRAM = File.join(__dir__, 'support', 'memory_of_gets.rb')

# @return [Array<Array(Integer, Integer)>] numbers of gets, and bytes that are resident after them
def samples(contest, folder, environment, command)
  told = contest.environment(folder, 'own').merge(environment)
  JSON.parse(IO.popen([told, *command, PROGRAM, FEW.to_s, MANY.to_s], &:read))
end

def rows(name, samples)
  samples.map { |count, bytes| "| #{name} | #{count} | #{(bytes / 1e6).round(2)} |" }
end

report = Report.new('Memory')
Contest.at(Contest::OpenLDAP) do |contest|
  folder = contest.folder('small')
  mri = samples(contest, folder, {}, Contest::MRI)
  heap = ['jruby', '-J-Xms256m', '-J-Xmx256m', *Contest::JRUBY.drop(1)]
  jruby = samples(contest, folder, Contest::OUTSIDE, heap)
  report.note('| Ruby | gets | resident, MB |', '|---|---:|---:|', *rows('MRI', mri), *rows('JRuby', jruby))
  report.at_most("MB after #{MANY} gets more than after #{FEW}, MRI", 1.0, (mri.last.last - mri.first.last) / 1e6)
  # What is worth compiling has been by half the time.
  late = jruby.select { |count, _| count >= MANY / 2 }.map(&:last)
  report.at_most("MB after #{MANY} gets more than after half of them, JRuby", 5.0, (late.last - late.first) / 1e6)
  report.print('memory', contest.versions.merge(Versions.of('JRuby')))
end
