# frozen_string_literal: true

require 'simpkv/ssh/authorized_keys'
require_relative '../../../../spec/support/ssh_keys'

RSpec.describe Simpkv::Ssh::AuthorizedKeys do
  key = SshKeys.text
  other = SshKeys.text(SshKeys::ED25519, 2)
  security_key = SshKeys.text(SshKeys::SECURITY_KEY)
  ecdsa = SshKeys.text(SshKeys::ECDSA)
  certificate = SshKeys.text(SshKeys::CERTIFICATE)
  type, data = key.split
  truncated = [data.unpack1('m0')[0..-2]].pack('m0')

  def parse(content)
    described_class.parse(content)
  end

  # @return [Array] number of the line, the type and the key, options and comment of each key
  def keys(content)
    parse(content).keys.map { |number, key| [number, "#{key.type} #{key.key}", key.options, key.comment] }
  end

  {
    'a key with a comment' => ["#{key} felix@laptop\n", [[1, key, [], 'felix@laptop']]],
    'a key without a comment' => ["#{key}\n", [[1, key, [], '']]],
    'a last line without a newline' => ["#{key} a", [[1, key, [], 'a']]],
    'a comment with spaces' => ["#{key} Felix  on his laptop\n", [[1, key, [], 'Felix  on his laptop']]],
    'a comment with the name of a type' => ["#{key} was ssh-rsa AAAA\n", [[1, key, [], 'was ssh-rsa AAAA']]],
    'a comment that is not ASCII' => ["#{key} Jérôme\n", [[1, key, [], 'Jérôme']]],
    'two keys with the same comment' => ["#{key} a\n#{other} a\n", [[1, key, [], 'a'], [2, other, [], 'a']]],
    'the same key twice' => ["#{key} a\n#{key} a\n", [[1, key, [], 'a'], [2, key, [], 'a']]],
    'a key of a security key' => ["#{security_key} a\n", [[1, security_key, [], 'a']]],
    'an ECDSA key' => ["#{ecdsa} a\n", [[1, ecdsa, [], 'a']]],
    'a certificate' => ["#{certificate} a\n", [[1, certificate, [], 'a']]],
    'the key of an authority' => ["cert-authority,principals=\"root,web\" #{key} CA\n",
                                  [[1, key, ['cert-authority', 'principals="root,web"'], 'CA']]],
    'options with commas, spaces and escaped quotes' =>
      ["command=\"echo \\\"a, b\\\"\",from=\"192.0.2.0/24,!192.0.2.1\",no-pty #{key} a\n",
       [[1, key, ['command="echo \"a, b\""', 'from="192.0.2.0/24,!192.0.2.1"', 'no-pty'], 'a']]],
    'an option with a backslash that escapes nothing' =>
      ["command=\"a \\ b\\\\n\" #{key}\n", [[1, key, ['command="a \ b\\\\n"'], '']]],
    'an option with the name of a type' =>
      ["command=\"ssh-rsa AAAA\" #{key}\n", [[1, key, ['command="ssh-rsa AAAA"'], '']]],
    'an option without a value in its quotes' => ["from=\"\" #{key}\n", [[1, key, ['from=""'], '']]],
    'CR before the newline' => ["#{key}\r\n#{other} a\r\n", [[1, key, [], ''], [2, other, [], 'a']]],
    'a byte order mark' => ["\uFEFF#{key} a\n", [[1, key, [], 'a']]],
    'blanks and tabs around each part' => [" \tno-pty \t#{key.sub(' ', "\t")}\t a \t\n", [[1, key, ['no-pty'], 'a']]],
    'comments and blank lines' => ["# #{key}\n\n \t\n\r\n  # x\n#{key}\n", [[6, key, [], '']]],
    'no line at all' => ['', []]
  }.each do |what, (content, expected)|
    it "reads #{what}" do
      expect(parse(content).broken).to eq({})
      expect(keys(content)).to eq(expected)
    end
  end

  no_key = 'it has no key, or a quote that does not end'
  bad_option = 'it has an option that is not NAME or NAME="VALUE"'
  bad_data = 'it has key data that are incomplete or of another type'
  {
    'a word' => ['pl4nted', no_key],
    'two words' => ['pl4nted pl4nted', 'it has no key'],
    'a type without a key' => [type, 'it has no key'],
    'a key that is not base64' => ["#{type} pl4nted!", 'it has key data that are not base64'],
    'a truncated key' => ["#{type} #{truncated}", bad_data],
    'an empty key' => ["#{type} AAAA", bad_data],
    'a key of another type' => ["ssh-rsa #{data}", bad_data],
    'a key of version 1' => ['2048 65537 1234567890 pl4nted', 'it has key data that are not base64'],
    'a quote that does not end' => ["command=\"pl4nted #{key}", no_key],
    'a quote in the middle of an option' => ["a\"b\" #{key}", bad_option],
    'an option without quotes' => ["from=192.0.2.1 #{key}", bad_option],
    'two commas' => ["no-pty,,no-x11-forwarding #{key}", bad_option],
    'a comma at the end of the options' => ["no-pty, #{key}", bad_option],
    'options without a key' => ['no-pty pl4nted', 'it has no key'],
    'options and a truncated key' => ["no-pty #{type} #{truncated}", bad_data],
    'a NUL character' => ["#{key} pl4\0nted", 'it has a NUL character'],
    'invalid UTF-8' => ["#{key} caf\xE9".b, 'it is not UTF-8'],
    'a line of 1 MB' => ["#{key} #{'a' * (1 << 20)}", 'it is longer than 65536 bytes'],
    'UTF-16' => ["#{key} a".encode('UTF-16LE'), 'it has a NUL character'],
    'a second byte order mark' => ["\uFEFF\uFEFF#{key}", bad_option]
  }.each do |what, (line, reason)|
    it "names a line with #{what}, and reads the others" do
      file = parse("#{key}\n".b + line.b + "\n#{other} a\n".b)
      expect(file.broken).to match(2 => reason)
      expect(file.keys.keys).to eq([1, 3])
    end
  end

  it 'reads the longest line' do
    line = "#{key} #{'a' * described_class::LONGEST_LINE}"[0, described_class::LONGEST_LINE]
    expect(parse("#{line}\n").keys.length).to eq(1)
    expect(parse("#{line}a\n").broken).to eq(1 => 'it is longer than 65536 bytes')
  end

  # Each of these would take hours if the time were not proportional to the length.
  it 'takes time in proportion to the length of a line that is no key' do
    length = described_class::LONGEST_LINE - 10
    lines = ['"', '\\', '\\"', 'a,', ' ', "\t ", 'a=', '""', 'ssh-rsa '].flat_map do |part|
      text = part * (length / part.length)
      [text, "a=\"#{text}", "#{text}\"", "#{key}#{text[0, length / 2]}\u0001", "#{text[0, length / 2]}x #{text[0, 20]}"]
    end
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    parse(lines.join("\n"))
    expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - start).to be < 60
  end

  it 'leaves the content as it is' do
    content = "\uFEFF#{key} a\r\n"
    expect { parse(content) }.not_to(change { [content.dup, content.encoding] })
  end
end
