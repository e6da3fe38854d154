# frozen_string_literal: true

require 'time'
require_relative '../spec_helper'
require 'simpkv/audit/changes'
require 'simpkv/audit/trail'
require_relative '../support/audit_file'

# Lines that AuditedStore writes are read back.
RSpec.describe Simpkv::Audit::Trail do
  include AuditFile

  let(:path) { 'environments/production/app/k' }

  # @return [String] a line as the log has it
  def line(time, outcome: 'written', operation: 'put', key: path, more: '', backend: 'file/site')
    made = Simpkv::Audit::Line.new(backend, 'ops', 'root', 'web1').of(operation, key, outcome, 1000, more)
    made.sub(/"time":"[^"]*"/, %("time":"#{time}"))
  end

  def write(*lines, file: audit_file)
    File.binwrite(file, lines.join)
  end

  def trail(key = path, **options)
    found = []
    described_class.new(audit_file, 'file/site', key).each(**options) { |each| found << each }
    found
  end

  def time(second, fraction = '500000')
    (Time.utc(2026, 11, 26) + second).strftime("%Y-%m-%dT%H:%M:%S.#{fraction}Z")
  end

  def seconds(lines)
    lines.map { |each| Time.iso8601(each['time']).to_i - Time.utc(2026, 11, 26).to_i }
  end

  it 'yields the changes of one key, the newest first' do
    write(line(time(1)), line(time(2), key: 'environments/production/app/k2'), line(time(3), key: 'globals/app/k'),
          line(time(4), backend: 'file/other'), line(time(5), operation: 'put_many'), line(time(6), operation: 'get'),
          line(time(7), outcome: 'unchanged'), line(time(8), operation: 'delete', outcome: 'deleted'),
          line(time(9), outcome: 'refused', more: ',"error":"DeniedError"'),
          line(time(10), outcome: 'error', more: ',"error":"TimeoutError"'),
          line(time(11), outcome: 'error', more: ',"error":"IsFolderError"'), line(time(12), operation: 'rekey'))
    expect(seconds(trail)).to eq([12, 10, 8, 5, 1])
    expect(trail.last).to include('operation' => 'put', 'identity' => 'ops', 'node' => 'web1')
    expect(seconds(trail('globals/app/k'))).to eq([3])
  end

  it 'finds keys of any name, and takes no part of one for another' do
    names = ['globals/"key":"x","', "globals/\u202e", "globals/a\tb", 'globals/é', "globals/\xff"]
    write(*names.each_with_index.map { |name, index| line(time(index), key: name) })
    expect(names.map { |name| seconds(trail(name)) }).to eq([[0], [1], [2], [3], [4]])
    expect(trail('globals/x')).to be_empty
  end

  # Lines end on both sides of the border of a block, and one is longer than a block.
  it 'reads a file of several blocks, whatever its lines' do
    other = line(time(0), key: "globals/#{'x' * 3000}")
    numbers = (1..6).to_a
    parts = numbers.map { |number| (other * (100 + (number * 37))) + line(time(number)) }
    write(*parts, 'y' * 3_000_000, "\n", line(time(8)), '{"time":"2026', "\n", line(time(9)),
          line(time(10)).chomp[0..-3])
    expect(File.size(audit_file)).to be > 6_000_000
    expect(seconds(trail)).to eq([9, 8, *numbers.reverse])
    write(*(1..30_000).map { |number| line(time(number)) })
    expect(seconds(trail)).to eq((1..30_000).to_a.reverse)
  end

  it 'leaves out a line whose time is no text' do
    write(line(time(1)), line(time(2)).sub(/"time":"[^"]*"/, '"time":5'))
    expect(seconds(trail)).to eq([1])
  end

  it 'keeps a block in memory, not the file', needs: %i[mri] do
    block = line(time(0), key: 'globals/other') * 4000
    60.times { File.write(audit_file, block, mode: 'ab') }
    before = rss
    expect(trail).to be_empty
    expect(rss - before).to be < 20_000
    expect(File.size(audit_file)).to be > 40_000_000
  end

  # @return [Integer] in KiB
  def rss
    GC.start
    File.read('/proc/self/status')[/^VmRSS:\s+(\d+)/, 1].to_i
  end

  it 'continues in the file before it, and leaves out what is older than it needs' do
    write(line(time(1)), file: "#{audit_file}.1")
    write(line(time(5000), key: 'globals/other'), line(time(5001)))
    expect(seconds(trail)).to eq([5001, 1])
    expect(seconds(trail(since: Time.utc(2026, 11, 26) + 5100))).to eq([5001, 1])
    expect(seconds(trail(since: Time.utc(2026, 11, 26) + 5700))).to eq([5001])
    File.unlink("#{audit_file}.1")
    File.link(audit_file, "#{audit_file}.1")
    expect(seconds(trail)).to eq([5001])
  end

  it 'raises an error for what it cannot read' do
    expect { trail }.to raise_error(Errno::ENOENT)
    File.mkfifo(audit_file)
    expect { trail }.to raise_error(Simpkv::InvalidError, /not a regular file/)
    File.unlink(audit_file)
    File.symlink('/etc/passwd', audit_file)
    expect { trail }.to raise_error(Errno::ELOOP)
  end

  describe Simpkv::Audit::Changes do
    # @return [Hash{Integer => Integer}] the second of the line of each version that has one
    def writers(lines, *versions)
      parsed = lines.map { |each| Simpkv::Native.parse(each) }
      named = versions.each_with_index.map do |second, index|
        stored_at = second && (Time.utc(2026, 11, 26) + second).strftime('%Y-%m-%dT%H:%M:%SZ')
        { 'version' => -index, 'stored_at' => stored_at }.compact
      end
      described_class.new(parsed).writers(named).transform_values { |who| seconds([who]).first }
    end

    it 'names the writer of a version whose line is the only one of its time' do
      expect(writers([line(time(90)), line(time(50)), line(time(10))], 90, 50, 30)).to eq(0 => 90, -1 => 50)
      expect(writers([line(time(90), operation: 'put_many')], 90)).to eq(0 => 90)
      expect(writers([line(time(90), operation: 'rekey')], 90, nil)).to eq({})
      expect(writers([line(time(90, '100000'))], 89, 20)).to eq(0 => 90)
      expect(writers([line(time(90))], 91)).to eq({})
    end

    it 'names nobody if the lines leave a doubt' do
      doubt = line(time(90), outcome: 'error', more: ',"error":"UnavailableError"')
      expect(writers([line(time(90)), line(time(90))], 90)).to eq({})
      expect(writers([line(time(91, '100000'))], 91, 90)).to eq({})
      expect(writers([doubt], 90)).to eq({})
      expect(writers([doubt, line(time(90))], 90)).to eq({})
    end
  end
end
