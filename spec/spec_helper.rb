# frozen_string_literal: true

$LOAD_PATH.unshift(*Dir[File.expand_path('../{lib,gems/*/lib}', __dir__)])

require 'simpkv'
require_relative 'support/cases'

# The tags of examples:
#
# needs:: names of what only some Rubies, bindings, users or checkouts have: mri, jruby, fork, cext, ffi, root; gems for
#         what looks after all gems of the repository
# once::  true for behaviour that no binding changes: it runs with the extension only
# heavy:: the same, for an example that takes long; `bin/test quick` leaves it out
# thorough:: true for an example that takes a second or more; `bin/test quick` leaves it out
# long:: true for an example that takes minutes, or repeats others on one more store: only `bin/test long` runs it
# ds389:: true for an example that starts 389 Directory Server
# tools:: true for an example that needs a program beyond those that building simpkv needs
RSpec.configure do |config|
  config.disable_monkey_patching!
  config.expect_with(:rspec) { |expectations| expectations.include_chain_clauses_in_custom_matcher_descriptions = true }
  config.mock_with(:rspec) { |mocks| mocks.verify_partial_doubles = true }
  config.order = :random
  # Stages of the tests say which seed. Unlike --seed, this leaves the order to the groups that need one.
  config.seed = ENV.fetch('SEED') if ENV['SEED'].to_s.match?(/\A\d+\z/)
  config.fail_if_no_examples = true
  Kernel.srand config.seed

  # An example whose needs are not met does not exist. A Ruby or a binding that behaves differently has its own example.
  has = { mri: RUBY_ENGINE == 'ruby', jruby: RUBY_ENGINE == 'jruby', fork: Process.respond_to?(:fork),
          root: Process.uid.zero?, gems: Dir.exist?(File.expand_path('../gems', __dir__)),
          cext: Simpkv::Native.binding_name == 'cext', ffi: Simpkv::Native.binding_name == 'ffi' }
  config.filter_run_excluding(needs: ->(needs) { !Array(needs).all? { |need| has.fetch(need) } })
  config.filter_run_excluding(heavy: true, once: true) unless has.fetch(:cext)
  config.filter_run_excluding(long: true) unless ENV['LONG']

  # No example may be skipped.
  config.after(:suite) do
    pending = RSpec.world.all_examples.select { |example| example.execution_result.status == :pending }
    raise "#{pending.length} examples were skipped, such as #{pending.first.location}" if pending.any?
  end

  # Examples run as production does, also those that load Puppet's test support.
  config.before { allow(Simpkv::UnitTest).to receive(:running?).and_return(false) }

  # No example may use the default store of the machine. rakelib/clean_machine.sh hides what other processes make.
  default_stores = File.expand_path('../..', Simpkv::Config.default_root_path('id'))
  existed = File.exist?(default_stores)
  config.after do
    before = existed
    existed = File.exist?(default_stores)
    raise "#{default_stores} was made while this example ran" if existed && !before
  end
end
