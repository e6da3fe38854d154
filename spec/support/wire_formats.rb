# frozen_string_literal: true

require 'securerandom'
require 'time'

# The payloads of PuppetDB's commands, with the members that its terminus sends.
module WireFormats
  # @param values [Hash{String => Object}]
  # @return [Hash{String => Object}] version 5
  def facts_payload(certname, values, at = Time.now)
    { 'certname' => certname, 'environment' => 'production', 'producer_timestamp' => at.utc.iso8601(3),
      'producer' => 'compiler', 'values' => values }
  end

  # @param resources [Array<Hash>]
  # @param edges [Array<Hash>]
  # @return [Hash{String => Object}] version 9
  def catalog_payload(certname, resources, edges = [], at: Time.now)
    { 'certname' => certname, 'version' => '1790000000', 'environment' => 'production', 'code_id' => nil,
      'transaction_uuid' => nil, 'catalog_uuid' => SecureRandom.uuid, 'job_id' => nil,
      'producer_timestamp' => at.utc.iso8601(3), 'producer' => 'compiler', 'edges' => edges, 'resources' => resources }
  end

  # @param members [Hash{String => Object}] that differ
  # @return [Hash{String => Object}]
  def resource(type, title, parameters = {}, members = {})
    { 'type' => type, 'title' => title, 'exported' => false, 'tags' => [], 'file' => '/etc/puppet/code/site.pp',
      'line' => 3, 'kind' => 'compilable_type', 'parameters' => parameters }.merge(members)
  end

  # @param ends [Array<Array(String, String)>] types and titles of source and target
  # @return [Hash{String => Object}]
  def edge(*ends, relationship: 'contains')
    source, target = ends.map { |type, title| { 'type' => type, 'title' => title } }
    { 'source' => source, 'target' => target, 'relationship' => relationship }
  end

  # @param events [Array<Hash>] of File[/etc/motd], with members that differ
  # @return [Hash{String => Object}] version 8
  def report_payload(certname, *events)
    time = Time.now.utc.iso8601(3)
    events = events.map { |event| report_event(time).merge(event) }
    { 'certname' => certname, 'job_id' => nil, 'puppet_version' => '7.23.0', 'report_format' => 12,
      'configuration_version' => '1790000000', 'producer_timestamp' => time, 'start_time' => time, 'end_time' => time,
      'environment' => 'production', 'transaction_uuid' => SecureRandom.uuid, 'status' => 'changed', 'noop' => false,
      'noop_pending' => false, 'corrective_change' => false, 'logs' => [], 'metrics' => report_metrics(events.length),
      'resources' => [report_resource(time, events)], 'catalog_uuid' => nil, 'code_id' => nil,
      'cached_catalog_status' => 'not_used', 'producer' => 'compiler' }
  end

  private

  def report_event(time)
    { 'status' => 'success', 'timestamp' => time, 'name' => 'content_changed', 'property' => 'content',
      'new_value' => 'n3w', 'old_value' => '0ld', 'corrective_change' => false, 'message' => 'content changed' }
  end

  def report_resource(time, events)
    { 'skipped' => false, 'timestamp' => time, 'resource_type' => 'File', 'resource_title' => '/etc/motd',
      'file' => '/etc/puppet/code/site.pp', 'line' => 3, 'containment_path' => ['Stage[main]', 'File[/etc/motd]'],
      'corrective_change' => false, 'events' => events }
  end

  def report_metrics(changes)
    { 'resources' => { 'total' => 9, 'changed' => changes, 'failed' => 0, 'failed_to_restart' => 0 },
      'events' => { 'total' => changes, 'success' => changes }, 'changes' => { 'total' => changes },
      'time' => { 'total' => 1.5 } }.flat_map do |category, values|
      values.map { |name, value| { 'category' => category, 'name' => name, 'value' => value } }
    end
  end
end
