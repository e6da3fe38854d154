# frozen_string_literal: true

require 'etc'
require_relative '../support/file_store'
require_relative '../support/processes'

# What a user without root's rights meets; each example runs in a child that has none.
RSpec.describe Simpkv::Store, 'in files, without permission', needs: :fork do
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

  it 'names what it cannot read, write, delete and list' do
    File.chmod(0, path('globals/f'))
    as_nobody do
      messages = [-> { store.get('globals/f/k') }, -> { store.put('globals/f/k', 'e') },
                  -> { store.delete('globals/f/k') }, -> { store.deletetree('globals/f') },
                  -> { store.list('globals/f') }].map { |call| message_of(Simpkv::DeniedError, &call) }
      key = path('globals/f/k')
      messages == ["Cannot read '#{key}': Permission denied", "Cannot write to '#{key}': Permission denied",
                   "Delete of '#{key}' failed: Permission denied",
                   "Folder delete of '#{path('globals/f')}' failed: Permission denied",
                   "Cannot read '#{path('globals/f')}': Permission denied"]
    end
  end

  it 'writes in place where it may not replace the file, and makes no new key there' do
    File.chmod(0o555, path('globals/f'))
    File.chmod(0o666, path('globals/f/k'))
    before = File.stat(path('globals/f/k'))
    as_nobody do
      store.put('globals/f/k', 'written in place') &&
        store.get('globals/f/k') == 'written in place' &&
        message_of(Simpkv::DeniedError) { store.put('globals/f/n', 'd') } ==
          "Cannot modify '#{path('globals/f')}': Permission denied"
    end
    after = File.stat(path('globals/f/k'))
    expect([after.ino, after.uid, after.mode]).to eq([before.ino, before.uid, before.mode])
    File.chmod(0o755, path('globals/f'))
  end

  it 'refuses a root that it may not use, and one that it cannot make' do
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
