# frozen_string_literal: true

require 'etc'
require 'socket'
require_relative '../support/audit_file'

# The C tests in ext/core/test/audit have rotation, full disks, locks and forks.
RSpec.describe 'Simpkv::Native::AuditLog' do
  include AuditFile

  log_class = Simpkv::Native::AuditLog
  let(:log) { log_class.new(audit_file) }

  it 'appends lines to a file' do
    expect([log.reserve(100, 1000), log.write("{}\n", 1000), log.write("[]\n[]\n", 1000)]).to eq([nil, nil, nil])
    expect(File.read(audit_file)).to eq("{}\n[]\n[]\n")
    expect(format('%04o', File.stat(audit_file).mode & 0o7777)).to eq('0660')
  end

  # It belonged to root, and logrotate, which runs as the owner of the folder, could not compress it.
  it 'belongs to the owner of its folder, also if root makes it' do
    owner = Process.euid.zero? ? Etc.getpwnam('nobody') : Etc.getpwuid
    File.chown(owner.uid, owner.gid, audit_folder)
    log.write("{}\n", 1000)
    expect([File.stat(audit_file).uid, File.stat(audit_file).gid]).to eq([owner.uid, owner.gid])
  end

  it 'sends lines to a socket', needs: :mri do
    socket = Socket.new(:UNIX, :DGRAM)
    socket.bind(Addrinfo.unix(File.join(audit_folder, 'socket'), :DGRAM))
    log_class.new("syslog:#{audit_folder}/socket").write("é\nb\n", 1000)
    prefix = "<86>simpkv[#{Process.pid}]: "
    expect(Array.new(2) { socket.recv(100) }).to eq(["#{prefix}é".b, "#{prefix}b"])
  ensure
    socket&.close
  end

  it 'raises the errors of the core' do
    expect { log_class.new('audit.log') }
      .to raise_error(Simpkv::InvalidError, "the target of an audit log must be 'syslog', 'syslog:' and the path of " \
                                            'a socket, or the absolute path of a file')
    expect { log_class.new("/no\0") }.to raise_error(Simpkv::InvalidError)
    expect { log_class.new(5) }.to raise_error(TypeError, 'no implicit conversion of Integer into String')
    expect { log.write('no newline', 1000) }.to raise_error(Simpkv::InvalidError, /must end in a newline/)
    expect { log.write(nil, 1000) }.to raise_error(TypeError)
    expect { log_class.new('/no/such/folder/log').write("{}\n", 1000) }
      .to raise_error(Simpkv::UnavailableError, %r{\Acannot open the audit log '/no/such/folder/log': No such file })
    expect { log_class.new("syslog:#{audit_folder}/none").write("{}\n", 1000) }
      .to raise_error(Simpkv::UnavailableError, /cannot write the audit log to syslog at .*: No such file or directory/)
    File.symlink('/none', audit_file)
    expect { log.reserve(1, 1000) }.to raise_error(Simpkv::InvalidError, /is a symbolic link/)
  end

  it 'has one target' do
    expect { log.send(:initialize, '/other') }
      .to raise_error(Simpkv::InvalidError, 'the audit log has a target already')
    expect { log.dup.write("{}\n", 1000) }.to raise_error(Simpkv::InvalidError, 'the audit log has no target')
    expect { log_class.allocate.reserve(1, 1000) }.to raise_error(Simpkv::InvalidError, 'the audit log has no target')
  end

  it 'is written by many threads' do
    threads = Array.new(8) { |n| Thread.new { 100.times { log.write("#{n}\n", 30_000) } } }
    threads.each(&:join)
    lines = File.readlines(audit_file).group_by(&:itself)
    expect(lines.transform_values(&:length)).to eq((0..7).to_h { |n| ["#{n}\n", 100] })
  end
end
