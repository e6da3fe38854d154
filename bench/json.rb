# frozen_string_literal: true

require 'json'
require 'tmpdir'
require_relative 'support/contest'
require 'simpkv/native/json_reader'
require 'simpkv/native/json_writer'

# What are the reader and the generator of JSON in the extension worth? They stay while a get takes more than a tenth
# more processor time without them, on files or on a directory (docs/adr/0099). Compares their calls with those of Ruby,
# and then gets and puts of a function with those of a process in which Ruby reads and writes all JSON.
CONTESTANTS = ['function', 'function, JSON in Ruby'].freeze
WORTH = 1.1
HOST = { 'name' => 'node1.example.com', 'address' => '10.0.0.1', 'weight' => 17, 'ratio' => 9.898 }.freeze
VALUES = { 'small' => Contest::SMALL, '1 KB' => [[HOST] * 11, [HOST] * 10] }.freeze

def calls(report)
  VALUES.each do |size, (value, _)|
    data = { 'value' => value, 'metadata' => { 'owner' => 'ops' } }
    text = Simpkv::Native.generate(data)
    report.add(SideBySide.run("read, #{size}", { 'extension' => -> { Simpkv::Native.parse(text) },
                                                 'JsonReader' => -> { Simpkv::JsonReader.parse(text) },
                                                 'JSON.parse' => -> { JSON.parse(text) } }))
    report.add(SideBySide.run("write, #{size}", { 'extension' => -> { Simpkv::Native.generate(data) },
                                                  'JsonWriter' => -> { Simpkv::JsonWriter.generate(data) },
                                                  'JSON.generate' => -> { JSON.generate(data) } }))
  end
end

def functions(report, contest, place, settings)
  VALUES.each do |size, values|
    folder = contest.folder("#{size}-#{settings.keys.first}".delete(' ').downcase, values: values)
    fill(settings[:root], folder) if settings[:root]
    { 'get' => 'get', 'put_unchanged' => 'put unchanged' }.each do |operation, title|
      title = "#{title}, #{size}, #{place}"
      rows = report.add(contest.run(title, operation, CONTESTANTS, folder, settings))
      report.at_least("processor time without / with the extension's JSON: #{title}", WORTH,
                      Report.processor_ratio(rows, *CONTESTANTS.reverse))
    end
  end
end

def fill(root, folder)
  store = Simpkv::Store.open('file', 'root_path' => root)
  folder.keys.times { |number| store.put("#{folder.path}/k#{number}", folder.documents.first) }
end

report = Report.new('JSON')
versions = Contest.at(Contest::OpenLDAP) do |contest|
  calls(report)
  Dir.mktmpdir { |root| functions(report, contest, 'files', root: root) }
  functions(report, contest, 'slapd, ldap', uri: contest.server.tcp_uri)
  contest.versions
end
report.print('json', versions)
