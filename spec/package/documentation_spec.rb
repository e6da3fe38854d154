# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require_relative '../support/packages'

# Runs the commands of a page as a reader does, in a folder of their own.
RSpec.describe 'The commands of docs/exported-resources.md' do
  # @return [String] the commands between a heading and the next one
  def commands(heading)
    page = File.read(File.join(Packages::ROOT, 'docs/exported-resources.md'), encoding: 'UTF-8')
    section = page[/^#+ #{heading}\n(.*?)^##/m, 1]
    section.scan(/^( *)```sh\n(.*?)^ *```$/m).map { |indentation, lines| lines.gsub(/^#{indentation}/, '') }.join
  end

  # Writes the programs `puppet` and `simpkv`, as the gem of this checkout would provide them.
  def write_programs(folder)
    { 'puppet' => '/usr/bin/puppet', 'simpkv' => "#{RbConfig.ruby} #{Packages::ROOT}/exe/simpkv" }
      .each do |name, program|
      File.write(File.join(folder, name), "#!/bin/sh\nRUBYLIB=#{Packages::ROOT}/lib exec #{program} \"$@\"\n",
                 perm: 0o755)
    end
  end

  # The commands for nodes and facts run before the node is removed.
  it 'export, collect and remove resources on one machine, and show its nodes' do
    Dir.mktmpdir do |folder|
      write_programs(folder)
      script = commands('On one machine, in files').gsub('/tmp/estate', "#{folder}/estate")
      script.sub!(/^(?=simpkv node deactivate)/) { commands('Nodes and facts') }
      said = Packages.run('sh', '-ex', '-c', script, environment: { 'PATH' => "#{folder}:/usr/bin:/usr/sbin" })
      expect(said.lines(chomp: true))
        .to include('192.0.2.11 web1', /^web1 +production /, '    "name": "web1",', 'added: classes.role::web',
                    /hosts.d.web1.*ensure: removed/)
      expect(said).not_to match(/Error: (?!Facter)/)
      expect(File.exist?("#{folder}/estate")).to be(false)
    end
  end
end
