# frozen_string_literal: true

require 'tmpdir'
require_relative '../../rakelib/prose'

RSpec.describe Prose do
  # @return [Array<String>] the violations of a repository of one file
  def violations(name, text)
    Dir.mktmpdir do |root|
      FileUtils.mkdir_p(File.dirname(File.join(root, name)))
      File.write(File.join(root, name), text)
      described_class.new(root, [name]).violations
    end
  end

  it 'reports long lines of Markdown, but not in tables and code blocks' do
    long = 'word ' * 21
    expect(violations('a.md', "#{long}\n")).to eq(['a.md:1: 105 columns; the limit is 100'])
    expect(violations('a.md', "| #{long}|\n\n   ```\n   #{long}\n   ```\n")).to eq([])
  end

  it 'reports paragraphs, list items and headings that open with such a clause' do
    text = "# What it is\n\nWho waits.\nWhose line.\n\n- Whether it is.\n- **What** it does.\n\n```\nWhat now\n```\n"
    expect(violations('a.md', text).map { |violation| violation[/\d+/] }).to eq(%w[1 3 6 7])
  end

  it 'reports comments of Ruby, but not strings' do
    text = "# Whether it is.\n#\n# What it is,\n# who it is.\nname = '# What' # whose it is\n"
    expect(violations('lib/a.rb', text).map { |violation| violation[/\d+/] }).to eq(%w[1 3 5])
  end

  it 'reports comments of C, but not strings' do
    text = "/*\n * What it is.\n *\n * Whether it is.\n */\nchar *a = \"/* What */\"; /* who */\nint b; /* whose */\n"
    expect(violations('a.c', text).map { |violation| violation[/\d+/] }).to eq(%w[2 4 6 7])
  end

  it 'reports comments of shell scripts' do
    expect(violations('bin/a', "#!/bin/sh\n# What it does.\nWhat=1\n")).to eq(
      ['bin/a:2: opens with What: begin with the noun or the verb']
    )
  end

  it 'exempts generated pages' do
    expect(violations('REFERENCE.md', "What it is.\n")).to eq([])
  end
end
