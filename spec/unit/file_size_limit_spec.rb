# frozen_string_literal: true

require 'open3'
require_relative '../support/scratch'

# The signal SIGXFSZ ended the process, and a put left its temporary file. Java ignores the signal.
RSpec.describe 'A limit on the size of files', needs: :mri do
  program = <<~'RUBY'
    require 'simpkv'
    def report
      yield
    rescue Simpkv::TooLargeError => e
      puts e.message.sub(%r{'/\S+'}, 'FILE')
    end
    store = Simpkv::Store.open('file', 'root_path' => "#{ARGV.first}/root")
    audit = Simpkv::Native::AuditLog.new("#{ARGV.first}/log")
    report { store.put('globals/k', 'x' * 5000) }
    Thread.new { report { store.put('globals/k', 'x' * 5000) } }.join
    report { audit.write("#{'x' * 5000}\n", 1000) }
    audit.write("short\n", 1000)
    p Dir.children("#{ARGV.first}/root/globals"), File.read("#{ARGV.first}/log"), store.put('globals/k', 'd')
  RUBY

  it 'is an error of a put and of a line of the audit log, and the process goes on' do
    folder = Scratch.make('simpkv-spec')
    lib = File.expand_path('../../lib', __dir__)
    output, status = Open3.capture2e(RbConfig.ruby, '-I', lib, '-e', program, folder, rlimit_fsize: 1000)
    expect(output).to eq(<<~OUTPUT)
      Key write to FILE failed: File too large
      Key write to FILE failed: File too large
      cannot write the audit log FILE: File too large
      []
      "short\\n"
      true
    OUTPUT
    expect(status).to be_success
  ensure
    FileUtils.remove_entry(folder)
  end
end
