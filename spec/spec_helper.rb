# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path('../lib', __dir__))

require 'simpkv'
require_relative 'support/cases'

RSpec.configure do |config|
  config.disable_monkey_patching!
  config.expect_with(:rspec) { |expectations| expectations.include_chain_clauses_in_custom_matcher_descriptions = true }
  config.mock_with(:rspec) { |mocks| mocks.verify_partial_doubles = true }
  config.order = :random
  config.fail_if_no_examples = true
  Kernel.srand config.seed

  # What an example needs that not every Ruby has: elsewhere it does not exist. Where the other Ruby or binding has a
  # behaviour of its own instead, that has an example, too.
  has = { mri: RUBY_ENGINE == 'ruby', jruby: RUBY_ENGINE == 'jruby', fork: Process.respond_to?(:fork),
          cext: Simpkv::Native.binding_name == 'cext', ffi: Simpkv::Native.binding_name == 'ffi' }
  config.filter_run_excluding(needs: ->(needs) { !Array(needs).all? { |what| has.fetch(what) } })

  # What takes long, and is the same on every Ruby.
  config.filter_run_excluding(heavy: true) unless has.fetch(:cext)

  # A test that does not run is a failure: nothing may be missing.
  config.after(:suite) do
    pending = RSpec.world.all_examples.select { |example| example.execution_result.status == :pending }
    raise "#{pending.length} examples were skipped, such as #{pending.first.location}" if pending.any?
  end
end
