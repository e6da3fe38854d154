# frozen_string_literal: true

require 'digest'
require 'simpkv/cli/transfer/transfer_command'
require_relative '../../../../spec/command/command_helper'

# Another client changes keys of the target between the moment at which a transfer reads them and the moment at which it
# stores their batch.
RSpec.shared_examples 'a transfer beside another client' do
  # Forty keys in four batches: 30 differ, and 10 are new.
  let(:paths) { Array.new(40) { |number| format('globals/moved/k%02d', number) } }
  let(:ours) { paths.to_h { |path| [path, document("ours of #{path}")] } }
  let(:theirs) { paths.first(30).to_h { |path| [path, document("theirs of #{path}")] } }
  let(:later) { document('pl4nted-later') }
  # One in the middle of a batch: another client changes, deletes and adds it.
  let(:changed) { paths[15] }
  let(:deleted) { paths[5] }
  let(:added) { paths[35] }

  before do
    source = Simpkv::Store.open('file', backends['default2'].slice('root_path'))
    source.put_many(ours)
    source.close
    store.put_many(theirs)
  end

  def document(value)
    Simpkv::Codec.encode(value)
  end

  def journal
    Dir[File.join(folder, '*.journal')].max
  end

  # Calls the block with the changes of each batch when they are in the journal, and before they are stored.
  def once_journaled
    allow_any_instance_of(Simpkv::Cli::Journal).to receive(:record).and_wrap_original do |original, changes|
      original.call(changes)
      yield changes.map(&:path)
    end
  end

  def interfere(batch)
    store.put(changed, later) if batch.include?(changed)
    store.delete(deleted) if batch.include?(deleted)
    store.put(added, later) if batch.include?(added)
  end

  def copy
    simpkv('copy', '-g', 'default2', 'default', '--existing', 'replace', '--jobs', '1', '-o', 'json')
  end

  it 'is refused the keys that have changed since it read them, and stores the others of their batches' do
    once_journaled { |batch| interfere(batch) }
    outcome = copy
    expect(outcome).to have_attributes(code: 65, err: include(
      "'#{changed}': ", 'the stored document is not the expected one', "'#{deleted}': ", "'#{added}': "
    ))
    expect(outcome.err).not_to include('pl4nted-')
    expect(JSON.parse(outcome.out)).to include('stored' => 37, 'failed' => 3, 'verified' => false)
    expect(store.get_many(paths).values_at(*(paths - [deleted])))
      .to eq(ours.merge(changed => later, added => later).values_at(*(paths - [deleted])))
    expect(store.kind(deleted)).to be_nil
  end

  it 'has each of its changes in the journal, and a rollback undoes those that were made' do
    once_journaled { |batch| interfere(batch) }
    copy
    lines = File.readlines(journal).map { |line| JSON.parse(line) }
    expect(lines.drop(1).reverse.drop(1).reverse).to match_array(
      paths.map { |path| { 'path' => path, 'old' => theirs[path], 'new' => Digest::SHA256.hexdigest(ours[path]) } }
    )
    back = simpkv('copy', 'default2', 'default', '--rollback', journal, '-o', 'json')
    expect(JSON.parse(back.out)).to eq('rolled back' => 37, 'left' => 3)
    left = back.err.scan(/'([^']+)': another client has changed it since/).flatten
    expect(left).to contain_exactly(changed, deleted, added)
    expect(store.list('globals/moved')[:keys].transform_keys { |name| "globals/moved/#{name}" })
      .to eq(theirs.reject { |path, _| path == deleted }.merge(changed => later, added => later))
  end

  it 'rolls back no key that changes meanwhile' do
    copy
    allow_any_instance_of(Simpkv::Cli::Endpoint).to receive(:read_many).and_wrap_original do |original, batch|
      original.call(batch).tap { store.put(changed, later) if batch.include?(changed) }
    end
    back = simpkv('copy', 'default2', 'default', '--rollback', journal, '-o', 'json')
    expect(back).to have_attributes(code: 65, err: include(
      "'#{changed}': ", 'the stored document is not the expected one'
    ))
    expect(JSON.parse(back.out)).to eq('rolled back' => 39, 'left' => 1)
    expect(store.get_many(theirs.keys)).to eq(theirs.merge(changed => later))
  end

  # It used to be lost.
  it 'deletes no new key that changes at the same moment' do
    copy
    allow_any_instance_of(Simpkv::Cli::Endpoint).to receive(:delete).and_wrap_original do |original, path, *document|
      store.put(added, later) if path == added
      original.call(path, *document)
    end
    back = simpkv('copy', 'default2', 'default', '--rollback', journal, '-o', 'json')
    expect(back).to have_attributes(code: 65, err: include("'#{added}': another client has changed it since"))
    expect(JSON.parse(back.out)).to eq('rolled back' => 39, 'left' => 1)
    expect(store.list('globals/moved')[:keys].transform_keys { |name| "globals/moved/#{name}" })
      .to eq(theirs.merge(added => later))
  end
end

RSpec.describe 'simpkv copy into files, beside another client' do
  include_context 'with keys in files'
  include_examples 'a transfer beside another client'

  it 'names the keys that have changed since it stored them' do
    allow_any_instance_of(Simpkv::Cli::Journal).to receive(:close).and_wrap_original do |original, whole|
      store.put(changed, later)
      store.delete(deleted)
      original.call(whole)
    end
    outcome = copy
    expect(outcome).to have_attributes(code: 65, err: include("'#{changed}': the target has another document",
                                                              "'#{deleted}': the target lacks it"))
    expect(JSON.parse(outcome.out)).to include('stored' => 40, 'failed' => 0, 'verified' => false)
  end
end

Directories::ALL.each do |server, layout, tags|
  RSpec.describe "simpkv copy into a directory, beside another client: #{server} #{layout}", **tags do
    include_context 'with keys in a directory', server, layout
    include_examples 'a transfer beside another client'
  end
end
