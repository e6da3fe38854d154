# frozen_string_literal: true

require_relative '../spec_helper'
require_relative '../support/scratch'
require 'simpkv/purging'
require 'fileutils'

RSpec.describe Simpkv::Purging::Entries do
  let(:root) { Scratch.make('simpkv-entries') }
  let(:more) { {} }
  let(:backend) do
    backends = { 'default' => { 'type' => 'file', 'id' => 'entries', 'root_path' => root }.merge(more) }
    Simpkv::Backend.new({ 'backends' => backends, 'backend' => 'default', 'global' => true }, [[]])
  end
  let(:store) { backend.open }

  after { FileUtils.remove_entry(root) }

  # Writes files as other programs might. Each has the same content unless it has its own.
  def fill(*paths, **documents)
    store
    paths.to_h { |path| [path, '{"value":"equal"}'] }.merge(documents.transform_keys(&:to_s)).each do |path, document|
      file = File.join(root, 'globals', path)
      FileUtils.mkdir_p(File.dirname(file))
      File.binwrite(file, document)
    end
  end

  # @return [Hash{String => String}] the titles, by the path below the folder, in the order of the list
  def titles(folder, title = folder, recurse: false)
    described_class.new(backend, folder, title).list(store, recurse: recurse).to_h { |each| [each.name, each.title] }
  end

  it 'have the title of the folder and their name' do
    fill('app1/b', 'app1/a', 'app1/sub/c', 'other/d')
    expect(titles('app1').to_a).to eq([%w[a app1/a], %w[b app1/b]])
    expect(titles('app1', 'My title', recurse: true)).to eq('a' => 'My title/a', 'b' => 'My title/b',
                                                            'sub/c' => 'My title/sub/c')
  end

  it 'are numbered in the order of their bytes if they have no usable name, equal content or not' do
    fill('app1/ok', 'app1/b b', 'app1/Zed', "app1/\u00e9", 'app1/a a', 'app1/broken': 'no JSON', 'app1/empty': '')
    expect(titles('app1').values).to eq(%w[app1:unnamed-1 app1:unnamed-2 app1:unnamed-3 app1:unnamed-4 app1:unnamed-5
                                           app1/ok app1:unnamed-6])
    expect(titles('app1').keys).to eq(['Zed', 'a a', 'b b', 'broken', 'empty', 'ok', "\u00e9"])
  end

  it 'are numbered in the nearest folder with a usable name' do
    fill('app1/sub/A', 'app1/sub/Bad dir/x', 'app1/Bad dir/sub/y', 'app1/Z')
    expect(titles('app1', recurse: true))
      .to eq('sub/A' => 'app1/sub:unnamed-1', 'sub/Bad dir/x' => 'app1/sub:unnamed-2', 'Z' => 'app1:unnamed-1',
             'Bad dir/sub/y' => 'app1:unnamed-2')
  end

  it 'have the same number with and without the folders below' do
    fill('app1/Bad dir/x', 'app1/Z', 'app1/b b')
    expect(titles('app1')).to eq('Z' => 'app1:unnamed-1', 'b b' => 'app1:unnamed-2')
    expect(titles('app1', recurse: true)).to include(titles('app1')).and include('Bad dir/x' => 'app1:unnamed-3')
  end

  it 'have the same number from the folder above and from the folder of all keys' do
    fill('app1/sub/A', 'app1/sub/b', 'app1/sub/C', 'D')
    below = titles('app1/sub').transform_keys { |name| "app1/sub/#{name}" }
    expect(titles('app1', recurse: true).transform_keys { |name| "app1/#{name}" }).to eq(below)
    expect(titles('', recurse: true)).to eq(below.merge('D' => '/:unnamed-1'))
    expect(titles('/', recurse: true)).to eq(titles('', recurse: true))
  end

  it 'share no title if a key is named as an entry without a usable name' do
    fill('x/app1:unnamed-1', 'x/app1/Bad', 'x/app1:unnamed-0', 'x/app1:unnamed-1a')
    names = titles('x', recurse: true)
    expect(names).to eq('app1/Bad' => 'x/app1:unnamed-1', 'app1:unnamed-1' => 'x:unnamed-1',
                        'app1:unnamed-0' => 'x/app1:unnamed-0', 'app1:unnamed-1a' => 'x/app1:unnamed-1a')
  end

  it 'that hold rich data or bytes have a document that can be read' do
    fill('app1/bytes': '{"value":"AP8=","encoding":"base64","original_encoding":"ASCII-8BIT"}',
         'app1/rich': '{"value":{"__ptype":"Sensitive","__pvalue":1},"encoding":"pcore"}')
    expect(titles('app1').values).to eq(%w[app1/bytes app1/rich])
  end

  it 'keep names that are no text', needs: :mri do
    fill("app1/\xFF", "app1/\xFE")
    names = titles('app1')
    expect(names.values).to eq(%w[app1:unnamed-1 app1:unnamed-2])
    expect(names.keys.map(&:b)).to eq(["\xFE".b, "\xFF".b])
  end

  it 'keep their documents to themselves' do
    fill('app1/a': '{"value":"s3cret"}')
    expect(described_class.new(backend, 'app1').list(store).inspect).not_to include('s3cret')
  end

  it 'do not exist in a missing folder' do
    expect(described_class.new(backend, 'none').list(store)).to be_nil
  end

  it 'may have capital letters in a backend that takes these' do
    more['case_sensitive'] = true
    fill('app1/Name')
    expect(titles('app1')).to eq('Name' => 'app1/Name')
  end

  it 'tell by a title which folder has an entry without a usable name' do
    expect(described_class.folder_of('app1/sub:unnamed-12')).to eq('app1/sub')
    expect(described_class.folder_of('/:unnamed-1')).to eq('/')
    expect(%w[app1/url app1:unnamed-0 app1:unnamed-01 app1:unnamed-].map { |each| described_class.folder_of(each) })
      .to all(be_nil)
  end
end
