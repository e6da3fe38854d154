# frozen_string_literal: true

desc 'Fail if a line of Markdown is too long, or a comment or paragraph opens with What, Who, Whose or Whether'
task :prose do
  require_relative 'prose'
  violations = Prose.new('.', `git ls-files`.lines(chomp: true)).violations
  abort violations.join("\n") if violations.any?
end
