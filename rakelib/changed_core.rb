# frozen_string_literal: true

require 'open3'

# Finds the C tests of files of the core, by the compiler's list of what each test and each source includes.
class ChangedCore
  ROOT = 'ext/core'
  INCLUDES = %w[include src test].map { |folder| "-I#{ROOT}/#{folder}" }.freeze
  private_constant :ROOT, :INCLUDES

  class << self
    # @return [Array<String>] the paths of all C tests
    def tests
      @tests ||= Dir["#{ROOT}/test/**/test_*.c"].sort
    end
  end

  # @param file [String]
  # @return [Hash{String => Float}] by the names of C tests and fuzzers, how far they are from the file: 0 for one that
  #   is named after it or is the file, 0.4 for one that includes its header, 1 for one of its folder, 1.4 for all
  #   others: they take two minutes together
  def distances(file)
    return {} unless file.start_with?("#{ROOT}/", 'schema/')

    fuzzer = file[%r{/fuzz/(fuzz_\w+)\.c\z}, 1]
    return { fuzzer => 0.0 } if fuzzer

    all = self.class.tests.to_h { |test| [File.basename(test, '.c'), distance(file, test)] }
    all.compact
  end

  # @param file [String]
  # @return [Array<String>] the Ruby files of the FFI binding that call the public functions of a source or header of
  #   the core, or those that a source of the extension calls
  def bound(file)
    return [] unless file.match?(%r{\Aext/.*\.[ch]\z}) && File.file?(file)

    names = (file.start_with?(ROOT) ? functions(file) : File.read(file).scan(/\bskv_\w+/)) & public_functions
    return [] if names.empty?

    Dir['lib/simpkv/native/*.rb'].select { |path| File.read(path).match?(/\b(?:#{names.join('|')})\b/) }
  end

  private

  def distance(file, test)
    return 0.0 if test == file || named_after?(test, file)
    return 0.4 if (headers(file) & included(test)).any?
    return 1.0 if File.dirname(test.sub('/test/', '/src/')) == File.dirname(file)

    1.4 if file.match?(/\.[ch]\z|Makefile|\.mk\z|\.jsonl\z|schema|configure/)
  end

  # test/net/test_pool_failover.c is named after src/net/pool_failover.c.
  def named_after?(test, file)
    File.basename(test, '.c').delete_prefix('test_') == File.basename(file, '.*')
  end

  # @return [Array<String>] the header itself; of a source, those that declare what it defines
  def headers(file)
    return [file] if file.end_with?('.h')

    @headers ||= {}
    @headers[file] ||= begin
      names = functions(file)
      Dir["#{ROOT}/src/**/*.h"].select { |header| (functions(header) & names).any? }
    end
  end

  # @return [Array<String>] the public functions, and those of the core, that a file defines or declares
  def functions(file)
    return [] unless file.match?(/\.[ch]\z/) && File.file?(file)

    @functions ||= {}
    @functions[file] ||= File.read(file).scan(/^\w[\w *]*\b(skv_\w+)\(/).flatten.uniq
  end

  def public_functions
    @public_functions ||= Dir["#{ROOT}/include/*.h"].flat_map { |path| functions(path) }
  end

  # @return [Array<String>] the files of the core that a test includes, directly or through others
  def included(test)
    @included ||= dependencies
    @included.fetch(test, [])
  end

  # The rules that the compiler makes for all tests, as in the .d files of a build.
  def dependencies
    output, status = Open3.capture2(ENV.fetch('CC', 'cc'), '-D_GNU_SOURCE', '-MM', *INCLUDES, *self.class.tests)
    raise 'the C compiler could not list what the tests include' unless status.success?

    output.gsub("\\\n", ' ').lines.to_h { |rule| rule.split.drop(1).then { |test, *rest| [test, rest] } }
  end
end
