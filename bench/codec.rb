# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path('../lib', __dir__))
require 'simpkv'
require_relative 'support/documents'
require_relative 'support/other_process'
require_relative 'support/report'
require_relative 'support/versions'

# The codec beside the json gem, the one that Ruby bundles and the newest, and oj. The group `lint` of the bundle brings
# the newest.
CONTESTANTS = {
  "json #{JSON::VERSION}, bundled" => ['json', {}],
  'json, newest' => ['json', { 'BUNDLE_WITHOUT' => '' }],
  'oj' => ['oj', {}],
  'simpkv' => ['simpkv', {}]
}.freeze

PROGRAM = File.join(__dir__, 'support', 'codec_contestant.rb')

def compare(direction, size)
  contestants = CONTESTANTS.transform_values do |library, environment|
    OtherProcess.new([RbConfig.ruby, PROGRAM, library, direction, size], environment)
  end
  SideBySide.run("#{direction} #{size}", contestants)
ensure
  contestants&.each_value(&:stop)
end

report = Report.new('Codec')
DOCUMENTS.each_key do |size|
  { 'encode' => 1.5, 'decode' => 1.0 }.each do |direction, bar|
    rows = report.add(compare(direction, size))
    next if size == '100 KB'

    report.at_least("codec #{direction} of #{size} / bundled json", bar,
                    Report.ratio(rows, 'simpkv', CONTESTANTS.keys.first))
  end
end
newest = Open3.capture2({ 'BUNDLE_WITHOUT' => '' }, RbConfig.ruby, '-rjson', '-e', 'print JSON::VERSION').first
report.print('codec', Versions.own.merge(Versions.of('oj')).merge('newest json' => newest))
