# frozen_string_literal: true

require 'simpkv/cli/write_command'

module Simpkv
  module Cli
    module Commands
      # Stores a value in place of an expected value.
      class Cas < WriteCommand
        SECTION = :keys
        SUMMARY = 'store a value in place of an expected value'
        SUGGEST_FOR = { 'compare_and_put' => 'cas', 'compare_and_swap' => 'cas' }.freeze
        ARGUMENTS = 'KEY [VALUE] (--expect OLD | --expect-file FILE | --absent)'
        DESCRIPTION = <<~TEXT
          Compares and swaps. Stores a value only if the stored value equals --expect or the content of
          --expect-file, or, with --absent, only if the key does not exist. No other writer can write in between.
          Metadata are not compared. VALUE and the expected value are given as for put, and --json, --binary and
          --chomp apply to both. The new value of a Sensitive is one too, unless --no-sensitive is given. If the stored
          value is another one, stores nothing and exits with 1. A key that has expired does not exist. The document
          keeps as many earlier values as it has, or as --history says. On 389-DS two concurrent replacements of one
          value can both succeed in rare cases. With --absent they cannot.
        TEXT
        EXAMPLES = {
          'simpkv cas app1/leader db2 --expect db1' => 'Take over as one of several',
          'simpkv cas app1/db_password --absent --chomp - < password.txt' => 'Store a first value only',
          'simpkv cas app1/db_password --chomp --expect-file old.txt --file new.txt' => 'A password'
        }.freeze

        def run(key, value = nil)
          check_key(key)
          old = expected
          value = wanted(value)
          written = about(key) { noting_environment(key) { |store| swap(store, backend.path(key), old, value) } }
          tell_secret(key) if written
          output.print('key' => key, 'swapped' => !written.nil?) { [] }
          return unless written.nil?

          warn "simpkv: #{backend.title}: '#{key}' #{@absent ? 'already exists' : 'has another value, or none'}: " \
               'nothing was stored'
          Failure::NO
        end

        private

        def define(parser)
          parser.on('--expect OLD', 'the value that must be stored') { |value| @expect = value }
          parser.on('--expect-file FILE', 'the file of that value; - is standard input') { |file| @expect_file = file }
          parser.on('--absent', 'the key must not exist') { @absent = true }
          super
        end

        # @return [Object, nil] the value that must be there
        def expected
          unless [@expect, @expect_file, @absent].compact.one?
            raise Failure.new('one of --expect OLD, --expect-file FILE and --absent is needed', Failure::USAGE)
          end
          return if @absent

          converted(chomped(@expect_file ? DataFile.bytes(@expect_file) : @expect.b), 'the expected value')
        end

        def swap(store, path, old, value)
          replace(store, path) do |stored|
            live = live(stored)
            unless expected?(live, old)
              store.refuse_put(path)
              next
            end

            # An equal document is stored in place of itself, which writes nothing.
            successor(document(value, stored), stored) || stored
          end
        end

        def expected?(live, old)
          @absent ? live.nil? : live && RichData.read(live)[:value].eql?(old)
        end
      end
    end
  end
end
