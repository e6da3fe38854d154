# frozen_string_literal: true

require_relative 'server_helper'

RSpec.describe 'The API of inspection rules before they are stored' do
  include_context 'with a service'

  let(:path) { '/v1/inspection_rules' }
  let(:role) { { 'description' => 'role', 'actions' => [action('set-attribute', '/parameters/role', 'web')] } }
  let(:facts) { { 'networking' => { 'fqdn' => 'web1.example.com' }, 'root_password' => 'pl4nted' } }

  before { make_estate }

  def action(name, *arguments)
    { 'op' => name, 'args' => arguments }
  end

  # @return [Hash] the outcome
  def test(**members)
    client.post("#{path}/test", { 'facts' => facts }.merge(members.transform_keys(&:to_s))).data
  end

  def stored
    client.get("#{path}?detail=true").data['inspection_rules']
  end

  it 'tests the stored rules and those of the body with pasted facts, and stores nothing' do
    uuid = client.post(path, role).data['uuid']
    expect(test).to include('name' => 'web1.example.com', 'known' => 'unknown', 'failed' => nil,
                            'record' => include('parameters' => { 'role' => 'web' }),
                            'rules' => [include('uuid' => uuid, 'matched' => true)])
    before = [stored, client.get('/v1/nodes').data]
    changed = test(name: 'db1', record: { 'environment' => 'dev' },
                   rules: [role.merge('uuid' => uuid, 'actions' => [action('fail', 'no {node.name} here')])])
    expect(changed).to include('name' => 'db1', 'known' => 'declared', 'record' => nil,
                               'failed' => include('rule' => uuid, 'msg' => 'no db1 here'))
    expect([stored, client.get('/v1/nodes').data]).to eq(before)
  end

  it 'reads nothing of the node in the store, and hides secrets by their names' do
    client.put('/v1/nodes/web1.example.com/record', 'parameters' => { 'role' => 'pl4nted' })
    copy = role.merge('actions' => [action('set-attribute', '/parameters/db_password', '{inventory[root_password]}')])
    outcome = test(rules: [copy])
    expect(outcome['record']['parameters']).to eq('db_password' => '[redacted]')
    expect(outcome.to_s).not_to include('pl4nted')
  end

  it 'says what is wrong with a test' do
    { { 'rules' => [] } => "'facts' must be an object", { 'facts' => [] } => "'facts' must be an object",
      { 'facts' => {}, 'rules' => {} } => "'rules' must be a list", { 'facts' => {}, 'name' => 1 } => "'name' must be",
      { 'facts' => {}, 'rule' => [] } => "unknown member 'rule'", { 'facts' => {}, 'name' => 'a/b' } => "has a '/'",
      { 'facts' => {}, 'record' => { 'colour' => 1 } } => "no member 'colour'",
      { 'facts' => {}, 'rules' => [{ 'actions' => [action('nosuch')] }] } => 'rules[0]: actions[0].op: ' }
      .each do |body, why|
      expect(client.post("#{path}/test", body)).to have_attributes(status: 400, detail: include(why))
    end
    expect([client.get("#{path}/test").status, client.get("#{path}/import").status]).to all(be_between(404, 405))
  end

  it 'imports rules, and says before what it would do' do
    client.post(path, role)
    list = [role, role.merge('description' => 'new'), role.merge('description' => 'keys', 'sensitive' => true)]
    before = stored
    foreseen = client.post("#{path}/import?dry_run=true", list).data['outcomes']
    expect(foreseen.map { |each| each['outcome'] }).to eq(%w[unchanged created created])
    expect(foreseen.last['rule']).to include('conditions' => nil, 'actions' => nil, 'created_at' => nil)
    expect(stored).to eq(before)
    imported = client.post("#{path}/import", list).data['outcomes']
    expect(imported.map { |each| each['outcome'] }).to eq(%w[unchanged created created])
    expect(stored.map { |rule| rule['uuid'] }).to eq(imported.map { |each| each['rule']['uuid'] })
    wrong = client.post("#{path}/import", [{ 'actions' => [] }])
    expect(wrong).to have_attributes(status: 400, detail: start_with('rules[0]: '))
    expect(client.post("#{path}/import", list.first).status).to eq(400)
  end

  context 'with an action of the site' do
    let(:service) do
      place = File.join(File.dirname(@root), 'lib/puppet_x/simpkv/rule_actions')
      FileUtils.mkdir_p(place)
      File.write(File.join(place, 'announce.rb'), "->(*) { File.write('#{place}/called', '') }")
      env = { 'RUBYLIB' => File.join(File.dirname(@root), 'lib') }
      @service = Service.new(options, env: env).tap(&:start)
    end

    # The arguments of a sensitive rule's action were in the outcome.
    it 'carries it out for nobody, and shows no arguments of a sensitive rule' do
      [{}, { 'sensitive' => true }].each do |more|
        client.post(path, { 'actions' => [action('announce', 'pl4nted')] }.merge(more))
      end
      [client.post("#{path}/test", 'facts' => facts), client.post('/v1/nodes/web1/inspection', facts)].each do |answer|
        expect(answer.data['effects']).to match([include('op' => 'announce', 'args' => ['pl4nted']),
                                                 { 'op' => 'announce', 'rule' => String, 'sensitive' => true }])
      end
      expect(Dir.glob(File.join(File.dirname(@root), '**/called'))).to eq([])
    end
  end

  it 'changes and deletes only the rule that the client has seen' do
    created = client.post(path, role).data
    place = "#{path}/#{created['uuid']}"
    patch = [{ 'op' => 'add', 'path' => '/priority', 'value' => 5 }]
    changed = client.patch("#{place}?updated_at=#{created['created_at']}", patch)
    expect(changed).to have_attributes(status: 200, data: include('priority' => 5))
    patch.first['value'] = 6
    [client.patch("#{place}?updated_at=#{created['created_at']}", patch),
     client.delete("#{place}?updated_at=#{created['created_at']}")].each do |answer|
      expect(answer).to have_attributes(status: 409, detail: include('has been changed since'))
    end
    expect(client.get(place).data).to eq(changed.data)
    expect(client.patch("#{place}?updated_at=yesterday", patch).status).to eq(400)
    expect(client.delete("#{place}?updated_at=#{changed.data['updated_at']}").status).to eq(204)
  end
end
