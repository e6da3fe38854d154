# frozen_string_literal: true

# Prints the command of the packages, packaging/command, with the Ruby that runs it, the folders of the code that the
# packages install, and the folders of gems that this Ruby knows.
#
#   ruby start.rb RUBY ROOT...     a ROOT has the files of a package; RUBY is the path of this Ruby on machines

ruby, *roots = ARGV
# The kit for unit tests is none of the command's.
gems = 'simpkv{,-access,-estate,-operations,-server}-[0-9]*'
folders = roots.flat_map do |root|
  found = Dir["#{root}/**/gems/#{gems}/lib", "#{root}/**/extensions/*/*/#{gems}"].sort
  found.map { |folder| folder.delete_prefix(root.chomp('/')) }
end
# JRuby has its own.
folders.reject! { |folder| folder.include?('jruby') }
abort 'start.rb: the packages have no code of simpkv' if folders.grep(%r{/simpkv-\d[^/]*/lib\z}).empty?

api = RbConfig::CONFIG.fetch('ruby_version')
places = Gem.default_path - [Gem.user_dir] + ["~/.gem/ruby/#{api}", "~/.local/share/gem/ruby/#{api}"]
texts = { '@RUBY@' => ruby, '@FOLDERS@' => folders.join(' '), '@GEMS@' => places.join(' ') }
print File.read(File.join(__dir__, 'command')).gsub(Regexp.union(texts.keys), texts)
