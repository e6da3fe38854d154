# frozen_string_literal: true

require 'etc'
require_relative '../support/file_store'
require_relative '../support/processes'

RSpec.describe Simpkv::Store, 'in files' do
  include FileStoreHelp
  include Processes

  describe '#delete with an expected document' do
    before { store.put('globals/k', 'document') }

    it 'deletes only a key that has that document, byte for byte' do
      ['other', 'document ', 'documenT', 'doc', ''].each do |other|
        expect(store.delete('globals/k', expect: other)).to be(false)
      end
      expect(store.get('globals/k')).to eq('document')
      expect([store.delete('globals/k', expect: 'document'), store.delete('globals/k', expect: 'document')])
        .to eq([true, false])
      expect(store.delete('no/such/k', expect: 'document')).to be(false)
      expect(names_in('globals')).to eq([])
    end

    it 'counts what a put takes for equal as different' do
      store.put('globals/k', '{"value":1.0}')
      expect(store.delete('globals/k', expect: '{"value":1.00}')).to be(false)
      expect(store.delete('globals/k', expect: '{"value":1.0}')).to be(true)
    end

    it 'deletes names that no key can have, and documents that are not text' do
      names = ['Foo Bar', 'Ümlaut', "not UTF-8 \xFF".b, "a\nb"]
      names.each { |name| File.binwrite("#{path('globals')}/#{name}", "\x00\xFF #{name.bytesize}".b) }
      store.delete('globals/k')
      listed = store.list('globals')[:keys]
      expect(listed.length).to eq(4)
      listed.each do |name, document|
        expect(store.delete("globals/#{name}", expect: "#{document} ")).to be(false)
        expect(store.delete("globals/#{name}", expect: document)).to be(true)
      end
      expect(names_in('globals')).to eq([])
    end

    it 'refuses a folder, and a document that is no String' do
      store.create_folder('globals/f')
      expect { store.delete('globals/f', expect: 'document') }.to raise_error(Simpkv::IsFolderError)
      expect { store.delete('globals/k', expect: :document) }.to raise_error(TypeError)
    end

    it 'compares the target of a link, and deletes the link' do
      store.put('globals/real/k', 'd')
      File.symlink('real/k', path('globals/link'))
      expect(store.delete('globals/link', expect: 'document')).to be(false)
      expect(store.delete('globals/link', expect: 'd')).to be(true)
      expect([store.kind('globals/link'), store.get('globals/real/k')]).to eq([nil, 'd'])
      File.symlink('nothing', path('globals/dangling'))
      expect { store.delete('globals/dangling', expect: 'd') }.to raise_error(Simpkv::DeniedError, /leads nowhere/)
      File.unlink(path('globals/dangling'))
    end

    it 'waits for a writer that holds the lock, and compares what it has written' do
      thread = with_lock('globals/k') do
        Thread.new { store.delete('globals/k', expect: 'document') }.tap do |deleting|
          deleting.join(0.1)
          File.write(path('globals/k'), 'written meanwhile')
        end
      end
      expect(thread.value).to be(false)
      expect(store.get('globals/k')).to eq('written meanwhile')
    end

    it 'deletes a file that it may only read, and refuses one that it may not read', :once, needs: :fork do
      [scratch, root, path('globals')].each { |name| File.chmod(0o777, name) }
      File.chmod(0o444, path('globals/k'))
      File.write(path('globals/closed'), 'document')
      File.chmod(0o000, path('globals/closed'))
      as_nobody do
        store.delete('globals/closed', expect: 'document')
        false
      rescue Simpkv::DeniedError => e
        e.message.include?('read permission on the file') && store.delete('globals/k', expect: 'document')
      end
      expect(names_in('globals')).to eq(['closed'])
    end

    it 'lets one of several processes delete each key', :once, needs: :fork do
      20.times { |n| store.put("globals/race/k#{n}", n.to_s) }
      reading, writing = IO.pipe
      deleters = Array.new(3) do
        child { 20.times { |n| writing.write("#{n} ") if store.delete("globals/race/k#{n}", expect: n.to_s) } }
      end
      expect_success_of(*deleters)
      writing.close
      expect(reading.read.split.map(&:to_i)).to match_array(0...20)
    end

    it 'never deletes the document of a writer that was faster', :once, needs: :fork do
      writer = child { (1..2000).each { |n| store.put('globals/contested', n.to_s) } }
      deleted = 0
      until (document = store.get('globals/contested', required: false)) == '2000'
        deleted += 1 if document && store.delete('globals/contested', expect: document)
      end
      expect_success_of(writer)
      expect(deleted).to be > 0
      expect(store.get('globals/contested')).to eq('2000')
    end
  end

  describe '#create_folder' do
    it 'makes the folder and those above it, and returns whether it was missing' do
      expect([store.create_folder('globals/a/b/c'), store.create_folder('globals/a/b/c'),
              store.create_folder('globals/a')]).to eq([true, false, false])
      expect(store.list('globals/a/b/c')).to eq(keys: {}, folders: [], errors: {})
      expect(%w[globals/a globals/a/b/c].map { |name| mode(name) }).to eq(%w[0770 0770])
      expect(names_in('globals/a/b')).to eq(['c'])
    end

    it 'returns false for the folders that every store has' do
      expect(['', '/', 'globals', 'environments'].map { |name| store.create_folder(name) }).to all(be(false))
    end

    it 'keeps the setgid bit of the folder above, as a put does' do
      store
      File.chmod(0o2770, path('globals'))
      store.create_folder('globals/f/g')
      expect(mode('globals/f/g')).to eq('2770')
    end

    it 'refuses the name of a key, and a key on the way' do
      store.put('globals/k', 'd')
      %w[globals/k globals/k/f globals/k/f/g].each do |name|
        expect { store.create_folder(name) }
          .to raise_error(Simpkv::IsKeyError, "Cannot make folder '#{path(name)}': 'globals/k' is a key, not a " \
                                              'folder: delete it, or choose another name')
      end
    end

    it 'follows links inside the root only' do
      store.create_folder('globals/real')
      File.symlink('real', path('globals/link'))
      File.symlink('/tmp', path('globals/out'))
      expect([store.create_folder('globals/link'), store.create_folder('globals/link/f')]).to eq([false, true])
      expect(store.kind('globals/real/f')).to eq(:folder)
      expect { store.create_folder('globals/out/f') }.to raise_error(Simpkv::DeniedError, /leads out of the root/)
    end

    it 'names what is missing to make it', :once, needs: :fork do
      store.create_folder('globals/f')
      [scratch, root, path('globals'), path('globals/f')].each { |name| File.chmod(0o755, name) }
      as_nobody do
        store.create_folder('globals/f/g')
        false
      rescue Simpkv::DeniedError => e
        e.message.start_with?("Cannot make folder '#{path('globals/f/g')}': Permission denied: uid ")
      end
    end

    it 'lets one of several processes make each folder', :once, needs: :fork do
      store
      reading, writing = IO.pipe
      makers = Array.new(3) do
        child { 20.times { |n| writing.write("#{n} ") if store.create_folder("globals/f#{n}/g") } }
      end
      expect_success_of(*makers)
      writing.close
      expect(reading.read.split.map(&:to_i)).to match_array(0...20)
    end
  end

  describe '#delete_folder' do
    it 'deletes an empty folder, and returns whether it existed' do
      store.create_folder('globals/a/b')
      expect([store.delete_folder('globals/a/b'), store.delete_folder('globals/a/b')]).to eq([true, false])
      expect([store.delete_folder('globals/no/such'), store.kind('globals/a')]).to eq([false, :folder])
    end

    it 'refuses a folder with a key or a folder in it, and names one of them' do
      store.put('globals/a/b/k', 'd')
      { 'globals/a/b' => "key 'k'", 'globals/a' => "folder 'b'" }.each do |folder, content|
        expect { store.delete_folder(folder) }
          .to raise_error(Simpkv::ConflictError, "Folder delete of '#{path(folder)}' failed: it is not empty, the " \
                                                 "#{content} is in it: delete its contents first")
      end
      expect(store.get('globals/a/b/k')).to eq('d')
    end

    it 'refuses a key, and the folders that every store has' do
      store.put('globals/k', 'd')
      expect { store.delete_folder('globals/k') }.to raise_error(Simpkv::IsKeyError, /it is a key, not a folder/)
      ['', '/', 'globals', 'environments'].each do |folder|
        expect { store.delete_folder(folder) }
          .to raise_error(Simpkv::InvalidError, /cannot be deleted: every store has it/)
      end
    end

    it 'loses no key of other processes', :once, needs: :fork do
      store
      deleter = child { 300.times { try_to_delete('globals/f') } }
      300.times do |n|
        store.put("globals/f/k#{n}", 'd')
        expect([store.get("globals/f/k#{n}"), store.delete("globals/f/k#{n}")]).to eq(['d', true])
      end
      expect_success_of(deleter)
    end

    def try_to_delete(folder)
      store.delete_folder(folder)
    rescue Simpkv::ConflictError
      nil
    end
  end
end
