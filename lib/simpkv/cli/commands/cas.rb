# frozen_string_literal: true

require 'simpkv/cli/storing'

module Simpkv
  module Cli
    module Commands
      # Stores a value in place of another one.
      class Cas < Storing
        SUMMARY = 'store a value in place of an expected one'
        SUGGEST_FOR = { 'compare_and_put' => 'cas', 'compare_and_swap' => 'cas' }.freeze
        ARGUMENTS = 'KEY [VALUE]'
        DESCRIPTION = <<~TEXT
          Compares and swaps: stores a value only if the stored one is what --expect or --expect-file says, or with
          --absent only if there is no such key. No other writer comes in between. Metadata are not compared. The value
          and the expected one are given as for put; --json, --binary and --chomp are for both. Ends with 1 and stores
          nothing if the stored value is another one. On 389-DS two of several that replace one value at the same moment
          may now and then both be told that they did; with --absent never.
        TEXT
        EXAMPLES = {
          'simpkv cas app1/leader db2 --expect db1' => 'One of several takes over',
          'simpkv cas app1/db_password --absent --chomp - < password.txt' => 'Only if there is none yet',
          'simpkv cas app1/db_password --chomp --expect-file old.txt --file new.txt' => 'A password'
        }.freeze

        def run(key, value = nil)
          check_key(key)
          if @expect_file == '-' && [value, @file].include?('-')
            raise Failure.new('standard input cannot hold both the value and the expected one', Failure::USAGE)
          end

          old = expected
          value = wanted(value)
          written = about(key) { noting_environment(key) { |store| swap(store, backend.path(key), old, value) } }
          output.print('key' => key, 'swapped' => !written.nil?) { [] }
          return unless written.nil?

          warn "simpkv: #{backend.title}: '#{key}' #{@absent ? 'is there already' : 'has another value, or none'}: " \
               'nothing was stored'
          Failure::NO
        end

        private

        def define(parser)
          parser.on('--expect VALUE', 'the value that must be stored now') { |value| @expect = value }
          parser.on('--expect-file FILE', 'the same, in a file; - is standard input') { |file| @expect_file = file }
          parser.on('--absent', 'there must be no such key') { @absent = true }
          super
        end

        # @return [Object, nil] the value that must be there
        def expected
          unless [@expect, @expect_file, @absent].compact.one?
            raise Failure.new('one of --expect VALUE, --expect-file FILE and --absent is needed', Failure::USAGE)
          end
          return if @absent

          converted(@expect_file ? content(@expect_file) : @expect.b, 'the expected value')
        end

        def swap(store, path, old, value)
          replace(store, path) do |stored|
            document(value, stored) if @absent ? stored.nil? : stored && Value.read(stored)[:value].eql?(old)
          end
        end
      end
    end
  end
end
