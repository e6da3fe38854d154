# frozen_string_literal: true

require 'simpkv/estate'

# Whole reports of runs, with the metrics, logs and changes that Puppet sends.
class SampleReports
  TIMES = %w[anchor augeas catalog_application concat_file concat_fragment config_retrieval convert_catalog cron
             exec fact_generation file file_line filebucket group node_retrieval notify package plugin_sync schedule
             service ssh_authorized_key startup_time sysctl total transaction_evaluation user].freeze
  START = Time.utc(2026, 11, 29, 8, 0, 0, 123_456)
  private_constant :TIMES, :START

  def initialize
    @random = Random.new(45)
    @digits = Array.new(2000) { @random.bytes(16).unpack1('H*') }
  end

  # @param changes [Integer] the number of its changes
  # @param run [Integer] the number of the run; there is one every 30 minutes
  # @return [Simpkv::Estate::WholeReport]
  def report(changes, run)
    members = { 'host' => 'n.example.com', 'status' => changes.zero? ? 'unchanged' : 'changed', 'noop' => false,
                'environment' => 'production', 'noop_pending' => false, 'corrective_change' => false,
                'puppet_version' => '8.10.0', 'report_format' => 12, 'configuration_version' => START.to_i + run,
                'transaction_uuid' => uuid, 'catalog_uuid' => uuid, 'transaction_completed' => true,
                'cached_catalog_status' => 'not_used', 'time' => time(run * 1800) }
    events = Array.new(changes) { |number| event(number) }
    logs = events.map { |event| line(event['message'], "/Stage[main]/Profile::App/#{event['resource']}/content") }
    logs << line("Applied catalog in #{@random.rand.round(2)} seconds", 'Puppet')
    Simpkv::Estate::WholeReport.new(members, metrics(changes), events, logs, statuses(events))
  end

  private

  def uuid
    @digits.sample(random: @random).sub(/(.{8})(.{4})(.{4})(.{4})/, '\1-\2-\3-\4-')
  end

  def time(seconds)
    Simpkv::Estate::ReportSummary.time(START + seconds + @random.rand)
  end

  def metrics(changes)
    { 'resources' => { 'total' => 800, 'changed' => changes, 'failed' => 0, 'failed_to_restart' => 0, 'skipped' => 0,
                       'restarted' => 0, 'out_of_sync' => changes, 'scheduled' => 0, 'corrective_change' => 0 },
      'events' => { 'total' => changes, 'success' => changes, 'failure' => 0 }, 'changes' => { 'total' => changes },
      'time' => TIMES.to_h { |name| [name, @random.rand] } }
  end

  def event(number)
    old, new = Array.new(2) { "{sha256}#{@digits.sample(2, random: @random).join}" }
    { 'resource' => "File[/etc/app/conf.d/#{number}.conf]", 'property' => 'content', 'name' => 'content_changed',
      'status' => 'success', 'time' => time(number), 'message' => "content changed '#{old}' to '#{new}'",
      'file' => '/etc/puppetlabs/code/environments/production/modules/profile/manifests/app.pp', 'line' => 12,
      'corrective_change' => false, 'values' => { 'old' => old, 'new' => new },
      'containment_path' => ['Stage[main]', 'Profile::App', "File[/etc/app/conf.d/#{number}.conf]"] }
  end

  def line(message, source)
    { 'level' => 'notice', 'message' => message, 'source' => source, 'time' => time(1),
      'tags' => %w[notice file profile profile::app class node default] }
  end

  def statuses(events)
    events.to_h do |event|
      [event['resource'], { 'changed' => true, 'failed' => false, 'skipped' => false, 'out_of_sync' => true,
                            'change_count' => 1, 'out_of_sync_count' => 1, 'provider_used' => 'posix',
                            'evaluation_time' => @random.rand, 'time' => time(1), 'failed_to_restart' => false,
                            'corrective_change' => false, 'tags' => %w[file profile profile::app class] }]
    end
  end
end
