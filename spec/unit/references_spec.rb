# frozen_string_literal: true

require 'tmpdir'
require_relative '../../rakelib/references'

RSpec.describe References do
  # Makes a project of these files. @return [Array<String>] what is wrong with it
  def violations(contents)
    Dir.mktmpdir('simpkv-references') do |root|
      contents.each do |file, text|
        FileUtils.mkdir_p(File.join(root, File.dirname(file)))
        File.write(File.join(root, file), text)
      end
      described_class.new(root, contents.keys).violations
    end
  end

  {
    'a comment of C' => ['src/a.c', "int a; /* see\n * net/gone.h */\n", 'src/a.c:2 names net/gone.h'],
    'a comment of Ruby' => ['a_spec.rb', "a = 1 # as GONE.md says\n", 'a_spec.rb:1 names GONE.md'],
    'a comment of a shell script' => ['bin/a', "#!/bin/sh\n# see lib/gone.rb\n", 'bin/a:2 names lib/gone.rb'],
    'a page' => ['docs/a.md', "`lib/gone.rb` does it\n", 'docs/a.md:1 names lib/gone.rb'],
    'a record of a decision' => ['a.rb', "# docs/adr/0002 says why\n", 'a.rb:1 names docs/adr/0002']
  }.each do |where, (file, text, violation)|
    it "finds the name of a missing file in #{where} (pool.h named pool_rotation.h)" do
      expect(violations(file => text, 'docs/adr/0001-a.md' => '')).to eq(["#{violation}, which does not exist."])
    end
  end

  it 'takes a path, its end, and the number of a record' do
    comment = "# src/net/pool.h, net/pool.h, pool.h, docs/adr/0001\n"
    expect(violations('a.rb' => comment, 'src/net/pool.h' => '', 'docs/adr/0001-a.md' => '')).to eq([])
  end

  # It took spec/query/rows_spec.rb for a file that had moved to gems/simpkv-server.
  it 'finds no file of another gem by the end of its path' do
    files = { 'gems/one/docs/a.md' => "docs/b.md, lib/b.rb\n", 'gems/one/docs/b.md' => '', 'gems/two/lib/b.rb' => '' }
    expect(violations(files)).to eq(['gems/one/docs/a.md:1 names lib/b.rb, which does not exist.'])
    expect(violations(files.merge('lib/b.rb' => ''))).to eq([])
  end

  it 'refuses a link, which rubocop and the build of the module follow (one led to a checkout outside)' do
    Dir.mktmpdir('simpkv-references') do |root|
      File.symlink('/tmp', File.join(root, 'tree'))
      expect(described_class.new(root, ['tree']).violations)
        .to eq(['tree is a link; commit the file itself, or remove the link.'])
    end
  end

  it 'leaves code, patterns and places outside of the project alone' do
    text = "File.read('gone.rb')\n# *_gone.rb, <type>_plugin.rb, /etc/gone.rb, ../gone.md, {a,b}_spec.rb\n"
    expect(violations('a.rb' => text)).to eq([])
  end
end
