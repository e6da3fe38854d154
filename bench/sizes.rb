# frozen_string_literal: true

require_relative 'support/contest'

# How the cost of a get and of a put grows with the value.
VALUES = { '40 B' => 40, '1 KB' => 1024, '10 KB' => 10_240, '100 KB' => 102_400 }.transform_values do |size|
  %w[a b].map { |letter| letter * size }
end.merge('100 KB, binary' => [0, 1].map { |seed| Random.new(seed).bytes(102_400) }).freeze
LAYERS = ['bare C loop', 'C core', 'store', 'adapter'].freeze

report = Report.new('Sizes of values')
Contest.at(Contest::OpenLDAP) do |contest|
  VALUES.each_with_index do |(size, values), number|
    folder = contest.folder("size#{number}", keys: 10, values: values)
    report.add(contest.run("get of #{size}", 'get', LAYERS, folder))
    report.add(contest.run("put unchanged of #{size}", 'put_unchanged', LAYERS, folder))
    report.add(contest.run("put changed of #{size}", 'put_changed', LAYERS, folder))
  end
  report.print('sizes', contest.versions)
end
