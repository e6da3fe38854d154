# frozen_string_literal: true

# Fails with one line unless the gems of the group lint are installed. Bundler would print a backtrace.
task :lint_gems do
  next if Gem.loaded_specs.key?('rubocop')

  installed = system({ 'BUNDLE_WITH' => 'lint' }, 'bundle', 'check', out: File::NULL, err: File::NULL)
  abort 'The gems of the group lint are missing. Run: BUNDLE_WITH=lint bin/setup' unless installed
end

desc 'Run rubocop'
task(rubocop: :lint_gems) { sh({ 'BUNDLE_WITH' => 'lint' }, 'bundle', 'exec', 'rubocop') }
