# frozen_string_literal: true

desc 'Fail if two files of the core and the extension have static functions of the same name'
task :static_names do
  require_relative 'static_names'
  files = Dir['ext/core/src/**/*.[ch]', 'ext/simpkv/*.[ch]']
  violations = StaticNames.new(files.to_h { |file| [file, File.read(file)] }).violations
  abort violations.join("\n") if violations.any?
end
