# frozen_string_literal: true

require 'etc'
require_relative '../support/file_store'
require_relative '../support/processes'

# Tests a user without root's rights; each example runs in a child process that has dropped them.
RSpec.describe Simpkv::Store, 'in files, without permission', :once, needs: :fork do
  include FileStoreHelp
  include Processes

  before do
    store.put('globals/f/k', 'd')
    [scratch, root, path('globals')].each { |name| File.chmod(0o755, name) }
  end

  def message_of(error)
    yield
    "no #{error} was raised"
  rescue error => e
    e.message
  end

  it 'says that it cannot tell whether a key exists below a closed folder (exists answered false)' do
    File.chmod(0, path('globals/f'))
    as_nobody do
      message = message_of(Simpkv::DeniedError) { store.exist?('globals/f/k') }
      message.end_with?("Cannot access '#{path('globals/f/k')}': Permission denied")
    end
  end

  it 'names the file or folder that it cannot read, write, delete or list' do
    File.chmod(0, path('globals/f'))
    as_nobody do
      messages = [-> { store.get('globals/f/k') }, -> { store.put('globals/f/k', 'e') },
                  -> { store.delete('globals/f/k') }, -> { store.deletetree('globals/f') },
                  -> { store.list('globals/f') }].map { |call| message_of(Simpkv::DeniedError, &call) }
      key = path('globals/f/k')
      expected = ["Cannot read '#{key}': Permission denied", "Cannot write to '#{key}': Permission denied: uid ",
                  "Delete of '#{key}' failed: Permission denied",
                  "Folder delete of '#{path('globals/f')}' failed: Permission denied",
                  "Cannot read '#{path('globals/f')}': Permission denied"]
      messages.zip(expected).all? { |message, beginning| message.start_with?(beginning) }
    end
  end

  # The write was done in place: a killed writer left a file that was half old, half new.
  it 'refuses to write a file that it may not replace, and says what to change (it wrote into the file)' do
    File.chmod(0o555, path('globals/f'))
    File.chmod(0o666, path('globals/f/k'))
    as_nobody do
      messages = %w[k new].map do |name|
        message_of(Simpkv::DeniedError) { store.put("globals/f/#{name}", 'written') }
      end
      refusal = "Cannot modify '#{path('globals/f')}': Permission denied: uid #{Process.euid} needs write " \
                'permission on this folder'
      messages.all? { |message| message.start_with?(refusal) } && store.get('globals/f/k') == 'd'
    end
    expect(names_in('globals/f')).to eq(['k'])
    File.chmod(0o755, path('globals/f'))
  end

  it 'replaces a file of another owner in a folder that its group shares, and keeps the group' do
    next unless Process.euid.zero? # Only root can change the owner of a file.

    nobody = Etc.getpwnam('nobody')
    FileUtils.chown(nil, nobody.gid, [path('globals/f'), path('globals/f/k')])
    File.chmod(0o770, path('globals/f'))
    before = File.stat(path('globals/f/k'))
    as_nobody { store.put('globals/f/k', 'replaced') && store.get('globals/f/k') == 'replaced' }
    after = File.stat(path('globals/f/k'))
    expect(after.ino).not_to eq(before.ino)
    expect([after.uid, after.gid, after.mode]).to eq([nobody.uid, nobody.gid, before.mode])
  end

  it 'refuses a root folder that it may not use, and one that it cannot create' do
    File.chmod(0o755, scratch)
    File.chmod(0o700, root)
    File.chmod(0o500, root) unless Process.euid.zero?
    as_nobody do
      message_of(Simpkv::DeniedError) { open_store }.start_with?("Cannot access root path '#{root}': Perm") &&
        message_of(Simpkv::DeniedError) { open_store("#{root}/new") }
          .start_with?("Cannot access root path '#{root}/new'", 'Unable to create configured root path')
    end
  end
end
