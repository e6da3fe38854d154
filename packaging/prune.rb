# frozen_string_literal: true

# Removes from folders that `gem install` has filled what a program does not need, and what differs from build to build:
# logs of compilers with the folder of the build, sources, tests and pages, and dependencies that are packages
# of their own.
#
#   ruby prune.rb FOLDER...

require 'fileutils'

ARGV.each do |folder|
  unwanted = Dir["#{folder}/{build_info,cache,doc,plugins,bin}"] +
             Dir["#{folder}/extensions/**/{gem_make.out,mkmf.log}"]
  Dir["#{folder}/gems/*"].each do |gem|
    kept = %w[lib ext exe schema docs LICENSE LICENSE.txt MIT-LICENSE COPYING license.md BSDL LEGAL]
    unwanted += Dir.children(gem).reject { |name| kept.include?(name) }.map { |name| File.join(gem, name) }
    # Of the sources of simpkv, the FFI binding reads the headers; `simpkv man` reads the manual pages.
    sources = Dir.glob("#{gem}/ext/**/*", File::FNM_DOTMATCH).select { |file| File.file?(file) }
    unwanted += sources.reject { |file| file.include?('/ext/core/include/') }
    # Ruby loads the extension from the folder `extensions`.
    unwanted += Dir["#{gem}/lib/**/*.so"]
    unwanted += Dir["#{gem}/docs/*"].reject { |file| file.end_with?('.1', '.5') }
  end
  unwanted.each { |file| FileUtils.rm_rf(file) }
  # The command prints lines where ruby-progressbar is missing. With the dependency, RubyGems would not load the
  # library, either.
  Dir["#{folder}/specifications/simpkv-{[0-9],rspec}*.gemspec"].each do |file|
    specification = Gem::Specification.load(file)
    specification.dependencies.reject! { |dependency| %w[ruby-progressbar rspec].include?(dependency.name) }
    File.write(file, specification.to_ruby)
  end
  Dir["#{folder}/gems/**/"].sort.reverse_each { |empty| Dir.rmdir(empty) if Dir.empty?(empty) }
end
