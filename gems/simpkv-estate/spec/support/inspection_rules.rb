# frozen_string_literal: true

require 'securerandom'
require_relative 'estate_files'

# The inspection rules of an estate in files.
RSpec.shared_context 'with inspection rules' do
  include_context 'with an estate in files'

  let(:rules) { Simpkv::Inspection::Rules.of(estate) }
  let(:actions) { [{ 'op' => 'set-attribute', 'args' => ['/parameters/role', 'web'] }] }
  let(:conditions) { [{ 'op' => 'eq', 'args' => ['{inventory.hostname}', 'web1'] }] }
  let(:secret_actions) { [{ 'op' => 'set-attribute', 'args' => ['/parameters/s3cret', 's3cret'] }] }
  let(:secret_conditions) { [{ 'op' => 'eq', 'args' => ['{inventory.hostname}', 's3cret'] }] }
  let(:sensitive) do
    rules.create('description' => 'keys', 'sensitive' => true, 'actions' => secret_actions,
                 'conditions' => secret_conditions)
  end
  let(:time) { /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\z/ }

  # @return [Hash] the rule as it is stored, with all fields
  def stored(uuid)
    Simpkv::Codec.decode(estate.store.get("globals/estate/rules/#{uuid}"))[:value]
  end

  def described(list = rules.list)
    list.map { |rule| rule['description'] }
  end

  # A built-in file for the estate.
  def built_in(content)
    File.join(root, 'built_in.yaml').tap { |file| File.write(file, content) }
  end
end
