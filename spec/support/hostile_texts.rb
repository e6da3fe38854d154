# frozen_string_literal: true

require 'simpkv'

# Puts markup with script into the texts of a store that agents, certificates, manifests and operators choose.
class HostileTexts
  # It leaves attributes and elements, and runs script in several ways that leave a trace.
  MARKUP = <<~HTML.delete("\n")
    "'></td></textarea><script>window.pwned = 1;alert(1)</script><img src=x onerror="window.pwned = 1">
    <svg onload="window.pwned = 1"></svg><a href="javascript:window.pwned = 1">x</a>
  HTML
  # The same as a name, which has no slash, behind characters that end the path of an address or are its escapes.
  NAME = %q(x?a#b&c;d%41"'><img src=x onerror="window.pwned = 1">)
  # The members of documents whose form simpkv or Puppet checks.
  FORMAL = %w[certname name status time received timestamp run type version resource_type changed_at].freeze
  private_constant :NAME, :FORMAL

  # @param store [Simpkv::Store]
  def initialize(store)
    @store = store
  end

  # @return [Hash{String => Hash}] a binding for {SampleAccess}, whose group has a name with markup. The names of users,
  #   roles and bindings have none
  def self.bindings
    group = "cn=#{MARKUP.gsub(/["+,;<>\\]/) { |character| "\\#{character}" }},ou=teams,dc=simp"
    { 'bindings' => { 'hostile' => { 'groups' => [group], 'roles' => ['shop-reader'] } } }
  end

  # @return [void]
  def plant
    plant_runs
    plant_rules
    plant_names
    %w[environments globals/site].each { |folder| change(folder) { |value| marked(value) } }
  end

  private

  def plant_runs
    change('globals/estate/facts') { |facts| facts.merge('values' => marked(facts['values'].merge(MARKUP => MARKUP))) }
    change('globals/estate/inventory') { |record| record.merge('facts' => marked(record['facts'] || {})) }
    change('globals/estate/catalogs') { |catalog| catalog.merge('resources' => catalog['resources'] + resources) }
    change('globals/estate/exported') { |list| list.is_a?(Array) ? list + resources : list }
    change('globals/estate/reports') { |report| report(report) }
    change('globals/estate/status') { |status| status.merge('environment' => MARKUP) }
  end

  def plant_rules
    change('globals/estate/rules') { |rule| rule.merge('description' => MARKUP, 'conditions' => [condition]) }
    change('globals/estate/nodes') { |record| record.merge('parameters' => { MARKUP => MARKUP }) }
    change('globals/estate/inspections') { |outcome| marked(outcome, 'rules') }
  end

  # Names that no function of simpkv would store, but other programs could. The index refuses them as names of nodes.
  def plant_names
    document = Simpkv::Codec.encode(MARKUP)
    @store.put("environments/production/hosts/#{NAME}", document)
    @store.put("environments/production/#{NAME}/#{NAME}", document)
  end

  # Changes the values of all documents below a folder, except markers.
  def change(folder)
    documents = @store.tree(folder)[:keys].reject { |key, _| key.end_with?('.estate') }
    changed = documents.to_h do |key, document|
      members = Simpkv::Codec.members(document)
      members = members.merge({ 'value' => yield(members['value']) }, metadata(folder))
      ["#{folder}/#{key}", Simpkv::Native.generate(members)]
    end
    @store.put_many(changed).each_value { |result| raise result if result.is_a?(Exception) }
  end

  def metadata(folder)
    folder.include?('estate') ? {} : { 'metadata' => { MARKUP => MARKUP } }
  end

  # @return [Object] the same with the markup behind each text
  def marked(value, *kept)
    case value
    when String then value + MARKUP
    when Array then value.map { |member| marked(member) }
    when Hash then value.to_h { |name, member| [name, [*FORMAL, *kept].include?(name) ? member : marked(member)] }
    else value
    end
  end

  def resources
    [{ 'type' => 'File', 'title' => "/#{MARKUP}", 'exported' => false, 'tags' => [MARKUP], 'file' => MARKUP,
       'line' => 1, 'parameters' => { 'content' => MARKUP, MARKUP => MARKUP } }]
  end

  def report(report)
    event = { 'resource' => "File[/#{MARKUP}]", 'property' => MARKUP, 'status' => 'success', 'time' => report['time'],
              'message' => MARKUP, 'file' => MARKUP, 'line' => 1 }
    report.merge('environment' => MARKUP, 'puppet_version' => MARKUP, 'configuration_version' => MARKUP,
                 'transaction_uuid' => MARKUP, 'events' => report['events'] + [event],
                 'times' => { MARKUP => 1.5, 'total' => 2.0 })
  end

  def condition
    { 'op' => 'eq', 'args' => [MARKUP, MARKUP] }
  end
end
