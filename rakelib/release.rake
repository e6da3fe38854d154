# frozen_string_literal: true

# Dates every file of the packages by the commit, so that two builds of a commit are the same bytes. RubyGems and tar
# read the variable. Sources without git, such as a tarball, have no commit: there, RubyGems' own constant stands in.
task :source_date do
  ENV['SOURCE_DATE_EPOCH'] ||=
    if File.exist?('.git')
      `git log -1 --format=%ct`.strip
    else
      warn 'source_date: without git, the files of the packages are dated 1980-01-02: set SOURCE_DATE_EPOCH to the ' \
           'date of the commit'
      '315619200'
    end
  abort "git does not tell the date of the commit, '#{ENV.fetch('SOURCE_DATE_EPOCH')}'" unless
    ENV['SOURCE_DATE_EPOCH'].match?(/\A\d+\z/)
end

# Writes the bills of materials of packages, and returns their names.
def write_bills(packages, kind)
  packages.map do |package|
    BillOfMaterials.path(package).tap do |file|
      File.write(file, kind.new(package, Time.at(Integer(ENV.fetch('SOURCE_DATE_EPOCH')))))
    end
  end
end

# Writes the checksums of files in pkg.
def write_checksums(files)
  File.write('pkg/SHA256SUMS', files.sort.map do |file|
    "#{Digest::SHA256.file(file).hexdigest}  #{File.basename(file)}\n"
  end.join)
end

# Runs after the packages of the Rakefile are built.
task :package do
  require_relative 'bill_of_materials'
  version = Gem::Specification.load('simpkv.gemspec').version
  others = Dir.children('gems').sort.map { |name| "#{name}-#{version}.gem" }
  packages = ["simpkv-#{version}.gem", "simpkv-#{version}-java.gem", *others, "simp-simpkv-#{version}.tar.gz"]
             .map { |name| File.join('pkg', name) }
  write_checksums(packages + write_bills(packages, BillOfMaterials))
end

namespace :release do
  desc 'Check that this commit can be released, line by line; release:check[fast] leaves out what is true of a ' \
       'release only, and what takes minutes'
  task :check, [:form] do |_task, arguments|
    require_relative 'release_check'
    form = arguments.form || 'full'
    abort "release:check[#{form}]: the form is fast or full" unless %w[fast full].include?(form)
    abort unless ReleaseCheck.new(Dir.pwd, fast: form == 'fast').run
  end
end
