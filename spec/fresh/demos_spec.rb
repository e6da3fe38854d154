# frozen_string_literal: true

require_relative '../support/fresh_machine'

# Runs each demo of the README as a newcomer does, each on a machine of its own and in a fresh copy of the checkout. On
# machines that have run tests, all packages and gems are there, whatever a demo forgets to install.
RSpec.describe 'On a fresh machine,' do
  readme = File.read(File.join(FreshMachine::ROOT, 'README.md'))
  demos = readme.scan(%r{^(?:\| `)?(bin/demo(?: \w+)?)(?:` \||$)}).flatten

  # This one has the most to install: a server, and the gems of the service.
  quick = 'bin/demo query'
  # Compilers take half of the time without optimization. The others are compiled as newcomers do.
  unoptimized = %(export CFLAGS=-O0 CONFIGURE_ARGS="--with-cflags='-O0 -fPIC'"\n)

  it 'the README runs each demo that there is' do
    script = File.read(File.join(FreshMachine::ROOT, 'bin/demo'))
    names = script[/^case .*? in\n(.*?)^  \*\)/m, 1].scan(%r{^  ([\w |]+)\) bin/setup}).flatten
    wanted = names.flat_map { |line| line.split(' | ') }.map { |name| "bin/demo #{name}".sub(' files', '') }
    expect(demos).to match_array(wanted).and include(quick)
  end

  %w[bookworm trixie].each do |suite|
    demos.each do |demo|
      long = [suite, demo] != ['bookworm', quick]

      # `query` failed: no package brought pkg-config, and Bundler asked for gems that bin/setup had left out.
      it "#{demo} installs what it needs, and ends well, on Debian's #{suite}", long: long do
        said = FreshMachine.new(FreshMachine.archive(suite)).run("#{unoptimized unless long}#{demo}\n")
        expect(said).to include('Installing Debian packages: ', 'Installing gems into ', "\nNext, try:\n")
        expect(said).not_to match(/^Error: (?!Facter)/)
      end
    end
  end
end
