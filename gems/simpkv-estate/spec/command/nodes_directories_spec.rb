# frozen_string_literal: true

require_relative 'nodes_helper'

# Each server and each layout once.
{ Slapd => 'plain', Ds389 => 'hex' }.each do |server, layout|
  RSpec.describe "simpkv nodes and simpkv node, in #{server.name}, #{layout}", ds389: server == Ds389 do
    include_context 'with keys in a directory', server, layout
    include_context 'with nodes for the command'

    let(:estate_options) { { 'node_ttl' => '14d' } }

    before do
      %w[web1 web2 old1].each { |name| run(name, exports: { 'host' => [host(name)], 'site::user' => [host(name)] }) }
      estate.statuses.put('old1', 'last_seen' => days_ago(20))
      estate.inventory.put('old1', estate.inventory.get('old1').merge('seen' => days_ago(19)))
    end

    it 'list, show and declare nodes' do
      expect(data('nodes').map { |node| node.values_at('name', 'expired') })
        .to eq([['old1', true], ['web1', false], ['web2', false]])
      expect(data('node', 'exports', 'web1').keys).to match_array(%w[host site::user])
      expect(simpkv!('node', 'facts', 'web2', 'os.name')).to eq("Debian\n")
      simpkv!('node', 'declare', 'web1', '--environment', 'dev')
      expect(simpkv!('node', 'declare', 'web1', '--class', 'site::web')).to eq("added: classes.site::web\n")
      expect(estate.nodes.get('web1')).to eq('environment' => 'dev', 'classes' => { 'site::web' => {} })
    end

    it 'remove nodes, and keep declared records' do
      simpkv!('node', 'declare', 'web1', '--environment', 'dev')
      simpkv!('node', 'deactivate', '--purge', 'web1')
      simpkv!('node', 'expire')
      expect(documents.grep(/web1|old1/)).to eq(%w[nodes/web1 purged/web1])
      expect(estate.exports.all('host').keys).to eq(%w[web2])
      expect(simpkv('node', 'deactivate', 'web1').to_a)
        .to match(['', /there is nothing of a node 'web1': did you mean 'web2'\?/, 66])
    end

    it 'are inspected by the rules of a file, which import creates, replaces and leaves alone' do
      rules = Array.new(3) do |number|
        { 'description' => "rule #{number}",
          'actions' => [{ 'op' => 'set-attribute', 'args' => ["/parameters/p#{number}", number] }] }
      end
      file = File.join(folder, 'rules.json')
      import = lambda do
        File.write(file, JSON.generate(rules))
        simpkv!('rule', 'import', file).scan(/^(\w+): .*rule (\d)/)
      end
      expect(import.call).to eq([%w[created 0], %w[created 1], %w[created 2]])
      rules[1]['priority'] = 5
      expect(import.call).to eq([%w[unchanged 0], %w[updated 1], %w[unchanged 2]])
      expect(simpkv!('rule', 'list').scan(/rule \d/)).to eq(['rule 1', 'rule 0', 'rule 2'])
      expect(data('node', 'inspect', 'web1')['record']['parameters']).to eq('p0' => 0, 'p1' => 1, 'p2' => 2)
    end

    it 'are as doctor expects them' do
      File.write(File.join(folder, 'puppet.conf'),
                 "[server]\nstoreconfigs = true\nstoreconfigs_backend = simpkv\nreports = simpkv\n")
      shown = simpkv!('doctor', '--list-size', '1', '--user', 'root')
      expect(shown).to match(/^ok +nodes: 3 nodes, \d+ documents$/)
    end
  end
end
