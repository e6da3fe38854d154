# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'spec_helper'
require 'simpkv/inspection'

RSpec.describe Simpkv::Inspection::ActionFiles do
  let(:root) { Dir.mktmpdir('simpkv-actions') }
  let(:actions) { described_class.new([File.join(root, 'one'), File.join(root, 'two')], [File.join(root, 'lib')]) }

  after { FileUtils.remove_entry(root) }

  # @return [String] the file
  def add(*parts)
    file = File.join(root, *parts.take(parts.length - 1), 'puppet_x/simpkv/rule_actions', parts.last)
    FileUtils.mkdir_p(File.dirname(file))
    FileUtils.touch(file)
    file
  end

  it 'finds the files of modules and of other folders, the first one of a name' do
    add('lib', 'page.rb')
    first = add('one', 'site', 'lib', 'page.rb')
    add('two', 'other', 'lib', 'page.rb')
    last = add('lib', 'announce-2_b.rb')
    expect(actions.names).to eq(%w[announce-2_b page])
    expect(%w[page announce-2_b none].map { |name| actions.file(name) }).to eq([first, last, nil])
  end

  it 'ignores files whose names no rule can have' do
    add('lib', 'Page.rb')
    add('lib', 'a b.rb')
    add('lib', 'page.txt')
    expect(actions.names).to eq([])
    expect(%w[../page Page *].map { |name| actions.file(name) }).to eq([nil, nil, nil])
  end

  it 'says where it has looked for an action that the core does not know' do
    message = "actions[0].op: there is no action 'page': expected fail, or an action of the site"
    places = %w[one/*/lib two/*/lib lib].map { |place| "#{root}/#{place}" }
    expect(actions.explained(message))
      .to eq("#{message}, which is a file puppet_x/simpkv/rule_actions/page.rb in #{places.join(', ')}, $LOAD_PATH")
    expect(actions.explained('actions[0].args: no')).to eq('actions[0].args: no')
  end

  it 'looks into the load path for programs that are not Puppet' do
    file = add('lib', 'page.rb')
    $LOAD_PATH.push(File.join(root, 'lib'))
    expect(described_class.usual.file('page')).to eq(file)
  ensure
    $LOAD_PATH.delete(File.join(root, 'lib'))
  end
end
