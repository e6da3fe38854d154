# frozen_string_literal: true

require 'set'

# Checks that the files exist that comments and pages name. A name is a path from the root of the project, or the end of
# one: `net/pool.h`, `pool.h`. One that begins with `lib`, `spec` or `docs` is whole, from the root or that of the gem
# that names it. Checks also that no file is a link, which leads elsewhere in another checkout. `rake docs:site`
# checks the links of the pages.
class References
  HASH = /(?:^|\s)#(?!\{)(.*)/.freeze
  # What is read of a line, by the end of the file's name.
  TEXTS = { /\.[ch]\z/ => %r{(?:/\*|//|^ *\*)(.*)}, /\.(?:rb|rake|sh|mk|pp|yaml|yml)\z|\A[^.]+\z/ => HASH,
            /\.md(?:\.erb)?\z/ => /(.*)/ }.freeze
  NAME = %r{(?<![\w./<>{}*$,~-])(?!_)(?:[\w-]+/)*[\w-]+\.(?:c|h|rb|rake|md|erb|pp|mk|sh|jsonl|tsv)\b(?!\.?\w)}.freeze
  WHOLE = %r{\A(?:docs|lib|spec)/}.freeze
  RECORD = %r{\bdocs/adr/\d{4}\b}.freeze

  # Files of Ruby, libldap, Puma and other projects; files that a decision has removed; and those that examples add.
  ELSEWHERE = %w[config/puma.rb extended.c request.c result.c ruby.h sysexits.h thread.c].freeze
  REMOVED = %w[awake.c commands/passgen.rb crowded.md json/reader.h ldap/list.h threads.md].freeze
  ADDED = %r{(?:\b|_)(?:acme|conformance|count|licenses|NAME|register_dns|spare)(?:_\w+)?\.(?:rb|erb)\z|/NAME/}.freeze

  # What names missing files on purpose.
  ON_PURPOSE = %w[CHANGELOG.md spec/unit/references_spec.rb].freeze
  private_constant :HASH, :TEXTS, :NAME, :WHOLE, :RECORD, :ELSEWHERE, :REMOVED, :ADDED, :ON_PURPOSE

  # @return [References] of the files of this checkout, those without a commit included
  def self.of_checkout
    files = IO.popen(%w[git ls-files -z --cached --others --exclude-standard], &:read).split("\0")
    raise 'git ls-files found nothing' if files.empty?

    new('.', files.select { |file| File.file?(file) || File.symlink?(file) })
  end

  # @param root [String] the folder of the project
  # @param files [Array<String>] its files
  def initialize(root, files)
    @root = root
    @links, @files = files.partition { |file| File.symlink?(File.join(root, file)) }
    ends = files.flat_map { |file| ends_of(file.split('/')) }
    @known = [*ends, *ELSEWHERE, *REMOVED, *files.grep(RECORD).map { |file| file[RECORD] }].to_set
  end

  # @return [Array<String>] a sentence for each link, and for each name of a file that does not exist
  def violations
    @links.map { |link| "#{link} is a link; commit the file itself, or remove the link." } +
      (@files - ON_PURPOSE).flat_map do |file|
        text = TEXTS.find { |pattern, _| pattern.match?(file) }&.last
        text ? missing(file, text) : []
      end
  end

  private

  def ends_of(parts)
    parts.each_index.map { |index| parts.drop(index).join('/') }
  end

  def known?(name, file)
    return @known.include?(name) unless WHOLE.match?(name) && NAME.match?(name)

    ['', file[%r{\Agems/[\w-]+/}]].compact.any? { |folder| @files.include?(folder + name) }
  end

  def missing(file, pattern)
    File.foreach(File.join(@root, file), encoding: 'UTF-8').with_index(1).flat_map do |line, number|
      text = line.scrub[pattern, 1].to_s
      names = [*text.scan(NAME), *text.scan(RECORD)].reject { |name| known?(name, file) || ADDED.match?(name) }
      names.map { |name| "#{file}:#{number} names #{name}, which does not exist." }
    end
  end
end
