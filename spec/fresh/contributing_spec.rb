# frozen_string_literal: true

require_relative '../support/fresh_machine'

# Runs the commands of CONTRIBUTING.md and docs/maintainers in their order on a machine that has nothing but git:
# examples are only loaded, and tasks that build packages, or take pictures, are only found.
RSpec.describe 'On a fresh machine, the commands of CONTRIBUTING.md', :long do
  files = ['CONTRIBUTING.md', *Dir['docs/maintainers/*.md', base: FreshMachine::ROOT].sort]
  page = files.map { |file| File.read(File.join(FreshMachine::ROOT, file)) }.join
  set_up, *blocks = page.scan(/^```sh\n(.*?)^```/m).flatten
  named = page.scan(/`((?:\w+=\S+ )*bundle\s+exec\s+(?:rake|rspec)[^`]*)`/).flatten.map { |line| line.tr("\n", ' ') }
  tasks, specs = named.uniq.partition { |command| command.include?(' rake') }
  folders = Dir['{,gems/*/}spec/*/*_spec.rb', base: FreshMachine::ROOT].map { |file| file.split('/')[-2] }.uniq

  it 'set up, build, load the specs of each folder, and check the style' do
    expect(set_up).to start_with('BUNDLE_WITH=lint bin/setup')
    expect(specs).not_to be_empty
    script = [set_up, *blocks, *tasks.map { |command| command.sub(' rake', ' rake --dry-run') },
              'export SPEC_OPTS=--dry-run', *folders.map { |folder| "bundle exec rake spec:#{folder}" }, *specs,
              'bundle exec rake rubocop'].join("\n")
    said = FreshMachine.new(FreshMachine.archive('bookworm')).run(script)
    expect(said.scan(/^\d+ examples?, 0 failures$/).length).to be >= folders.length
  end
end
