# frozen_string_literal: true

require 'puppet'
require 'puppet/test/test_helper'
require 'tmpdir'
require_relative 'support/contest'
require_relative '../spec/support/puppet_world'

# How much longer do calls take for keys that expire, and for keys with a history? The keys are in files, so that the
# calls take little else. The calls are those of the adapter, without Puppet's dispatch of functions.
class Rotation
  PLAIN = 'no option'
  OPTIONS = { PLAIN => {}, 'expires_after' => { 'expires_after' => '90d' }, 'history' => { 'history' => 5 },
              'both' => { 'expires_after' => '90d', 'history' => 5 } }.freeze
  VALUE = { 'password' => 'Xu8#kq!0' }.freeze

  # @param adapter [Object] of a catalog
  # @param backend [Hash] its options
  # @param report [Report]
  def initialize(adapter, backend, report)
    @adapter = adapter
    @report = report
    @options = OPTIONS.transform_values do |options|
      Simpkv::Config.frozen({ 'environment' => 'production', 'softfail' => false, 'backend' => 'default',
                              'backends' => { 'default' => backend } }.merge(options))
    end
  end

  # @return [void]
  def run
    # Six values: a history of five.
    5.downto(0) { |number| @options.each { |name, options| put(key(name), number, options) } }
    get
    contest('put of an equal value') { |key, options| put(key, 0, options) }
    turn = Hash.new(0)
    contest('put of another value') { |key, options| put(key, turn[key] = 1 - turn[key], options) }
  end

  private

  def get
    rows = contest('get') { |key, options| checked(@adapter.get(key, options))[:value] }
    plain, expiring = [PLAIN, 'expires_after'].map { |name| Report.row(rows, name).median * 1e6 }
    @report.at_most('us that expires_after adds to a get', 3, expiring - plain)
  end

  def key(name)
    "bench/#{name.tr(' ', '_')}"
  end

  def contest(title)
    contestants = @options.to_h { |name, options| [name, -> { yield key(name), options }] }
    @report.add(SideBySide.run(title, contestants))
  end

  def put(key, number, options)
    value = number.zero? ? VALUE : { 'password' => "Xu8#kq!#{number}" }
    checked(@adapter.put(key, value, { 'owner' => 'ops' }, options))
  end

  def checked(answer)
    raise answer[:err_msg] if answer[:err_msg]

    answer[:result]
  end
end

report = Report.new('Expiry and history')
%i[initialize before_all_tests before_each_test].each { |step| Puppet::Test::TestHelper.public_send(step) }
Dir.mktmpdir('rotation') do |root|
  backend = { 'type' => 'file', 'id' => 'bench', 'root_path' => File.join(root, 'keys') }
  world = PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } })
  world.inside { |_compiler| Rotation.new(world.adapter, backend, report).run }
  world.close
end
report.print('rotation', Versions.own.merge(Versions.of('openvox')))
