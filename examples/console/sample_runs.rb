# frozen_string_literal: true

require 'digest'
require 'time'
require 'simpkv/estate'
require_relative 'sample_node'

# The runs of a {SampleNode}: its reports of the last days, and the status that the last one leaves. Some nodes have not
# run for long, and some fail.
class SampleRuns
  # The seconds from one run to the next.
  INTERVAL = 12 * 3600
  DAY = 86_400
  # The statuses of a hundred runs.
  STATUSES = [*['failed'] * 2, *['changed'] * 14, *['noop'] * 3, *['unchanged'] * 81].freeze
  # Resource, property, message of an event of such a run, and the place of the resource in the module profile.
  EVENTS = {
    'changed' => [['File[/etc/motd]', 'content', "content changed '{sha256}9c56' to '{sha256}5fec'", 'base', 21],
                  ['Package[openssl]', 'ensure', "ensure changed '3.0.11-1' to '3.0.14-1'", 'base', 34],
                  ['Service[chrony]', 'ensure', "ensure changed 'stopped' to 'running' (corrective)", 'time', 12],
                  ['User[deploy]', 'groups', "groups changed ['adm'] to ['adm', 'docker']", 'deploy', 8]],
    'noop' => [['File[/etc/ssh/sshd_config]', 'mode', "current_value '0600', should be '0644' (noop)", 'ssh', 17]],
    'failed' => [['Exec[apt-get update]', 'returns', "'/usr/bin/apt-get update' returned 100 instead of one of [0]",
                  'apt', 9],
                 ['Service[shop]', 'ensure', "change from 'stopped' to 'running' failed: Systemd start failed!",
                  'shop', 42]]
  }.freeze
  # The nodes whose last runs have failed, by their numbers: how many runs, and which event.
  FAILING = { 7 => [1, 0], 8 => [3, 0], 11 => [2, 1], 12 => [1, 0], 15 => [5, 1], 16 => [2, 0] }.freeze
  OUTCOMES = { 'changed' => 'success', 'failed' => 'failure', 'noop' => 'noop' }.freeze
  private_constant :INTERVAL, :DAY, :STATUSES, :EVENTS, :FAILING, :OUTCOMES

  # @param node [SampleNode]
  # @param now [Time]
  # @param count [Integer] of reports
  def initialize(node, now, count)
    @node = node
    @now = now
    @count = count
  end

  # @return [Array<Hash>] the reports as {Simpkv::Estate::Reports} stores them, newest first
  def reports
    @reports ||= Array.new(@count) { |back| report(back) }
  end

  # @return [Hash] as {Simpkv::Estate::Statuses} stores it
  def status
    last = reports.first
    last.slice('environment', 'status', 'noop').merge(
      'last_seen' => last['received'], 'changes' => last['resources']['changed'],
      'failures' => last['resources']['failed'], 'runs' => last['run']
    )
  end

  # @return [Boolean] whether the node has had no run for days
  def late?
    @node.number % 67 == 3
  end

  private

  # @param back [Integer] how many runs before the last one
  def report(back)
    time = last_run - (back * INTERVAL)
    status = outcome(back)
    members = { 'host' => @node.name, 'environment' => @node.environment, 'status' => status,
                'noop' => status == 'noop', 'noop_pending' => status == 'noop',
                'corrective_change' => events(back, time).any? { |event| event['corrective_change'] },
                'puppet_version' => '8.10.0', 'report_format' => 12, 'configuration_version' => time.to_i,
                'transaction_uuid' => uuid(back), 'transaction_completed' => true,
                'cached_catalog_status' => 'not_used', 'time' => time.iso8601 }
    Simpkv::Estate::ReportSummary.of(members, metrics(back), events(back, time))
                                 .merge('received' => (time + seconds(back)).iso8601, 'run' => 1000 - back,
                                        'details' => "s#{uuid(back).delete('-')}", 'logs' => logs(back, time))
  end

  def last_run
    days = late? ? 2 + (@node.number % 5) : 0
    @now - (days * DAY) - (@node.pick('minute', [*1..700]) * 60)
  end

  def outcome(back)
    failed, = FAILING.fetch(@node.number, [0])
    return 'failed' if back < failed

    # The demo says how many last runs have failed.
    @node.pick("outcome #{back}", back == failed ? STATUSES - ['failed'] : STATUSES)
  end

  def events(back, time)
    status = outcome(back)
    chosen(status, back).map do |resource, property, message, manifest, line|
      { 'resource' => resource, 'property' => property, 'status' => OUTCOMES.fetch(status), 'time' => time.iso8601,
        'message' => message, 'corrective_change' => message.include?('corrective'), 'line' => line,
        'file' => "/etc/puppetlabs/code/environments/production/modules/profile/manifests/#{manifest}.pp" }
    end
  end

  # @return [Array<Hash>] the log of a run, as it is stored beside the summary: see {Simpkv::Estate::ReportDetails}
  def logs(back, time)
    lines = events(back, time).map do |event|
      level = event['status'] == 'failure' ? 'err' : 'notice'
      source = "/Stage[main]/Profile/#{event['resource']}/#{event['property']}"
      log(level, event['message'], source, time).merge(event.slice('file', 'line'))
    end
    [*lines, log('notice', "Applied catalog in #{seconds(back)} seconds", 'Puppet', time)]
  end

  def log(level, message, source, time)
    { 'level' => level, 'message' => message, 'source' => source, 'tags' => [level], 'time' => time.iso8601 }
  end

  def chosen(status, back)
    events = EVENTS.fetch(status, [])
    return [events[FAILING.fetch(@node.number, [0, 0]).last]] if status == 'failed'

    first = @node.pick("first event #{back}", [*0...events.length, 0])
    events.rotate(first.to_i).first(1 + @node.pick("events #{back}", [0, 0, 1, 2]))
  end

  def metrics(back)
    counts = { 'success' => 0, 'failure' => 0, 'noop' => 0 }
    events(back, @now).each { |event| counts[event['status']] += 1 }
    total = @node.resources.length
    { 'resources' => { 'total' => total, 'changed' => counts['success'], 'failed' => counts['failure'],
                       'out_of_sync' => counts.values.sum, 'skipped' => 0, 'failed_to_restart' => 0 },
      'events' => counts.merge('total' => counts.values.sum), 'changes' => { 'total' => counts['success'] },
      'time' => { 'config_retrieval' => 0.7 + (total / 100.0), 'file' => 0.21, 'package' => 0.34, 'service' => 0.12,
                  'total' => seconds(back) } }
  end

  def seconds(back)
    3 + (@node.pick("seconds #{back}", [*1..90]) / 10.0)
  end

  def uuid(back)
    Digest::SHA256.hexdigest("#{@node.number} #{back}")[0, 32].unpack('a8a4a4a4a12').join('-')
  end
end
