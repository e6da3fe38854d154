# frozen_string_literal: true

require_relative 'server_helper'

RSpec.shared_context 'with an inspection rule' do
  let(:path) { '/v1/inspection_rules' }
  let(:rule) { { 'actions' => [{ 'op' => 'set-attribute', 'args' => ['/parameters/role', 'web'] }] } }
  let(:uuid) { '6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90' }

  before { make_estate }

  # @return [Hash] the rule
  def create(**fields)
    client.post(path, rule.merge(fields.transform_keys(&:to_s))).data
  end
end

RSpec.describe 'The API of inspection rules' do
  include_context 'with a service for all examples'
  include_context 'with an inspection rule'

  it 'creates, shows, changes and deletes a rule' do
    created = client.post(path, rule.merge('uuid' => uuid, 'conditions' => nil, 'description' => 'Web servers'))
    expect(created).to have_attributes(status: 201, headers: include('location' => end_with("#{path}/#{uuid}")))
    expect(created.data).to include('conditions' => [], 'built_in' => false, 'updated_at' => nil, 'priority' => 0)

    expect(client.get("#{path}/#{uuid}").data).to eq(created.data)
    changed = client.patch("#{path}/#{uuid}", [{ 'op' => 'add', 'path' => '/description', 'value' => 'All' }])
    expect(changed).to have_attributes(status: 200, data: include('description' => 'All', 'updated_at' => String))

    deleted = client.delete("#{path}/#{uuid}", 'Content-Type' => 'application/octet-stream')
    expect(deleted).to have_attributes(status: 204, body: '')
    expect(client.get("#{path}/#{uuid}").status).to eq(404)
    expect(client.delete("#{path}/#{uuid}").status).to eq(404)
  end

  it 'takes what it has returned, and ignores what only answers have' do
    created = client.post(path, rule.merge('uuid' => uuid)).data
    client.delete("#{path}/#{uuid}")
    again = client.post(path, created.merge('built_in' => true)) # links and built_in were refused.
    expect(again).to have_attributes(status: 201, data: include(created.except('created_at')))
    expect(client.post("#{path}/import", [created]).data['outcomes']).to match([include('outcome' => 'unchanged')])
    expect(client.post("#{path}/test", 'facts' => {}, 'rules' => [created]).status).to eq(200)
  end

  it 'shows clients of OpenStack why a request was refused, who ignore problems' do
    header = { 'X-OpenStack-Ironic-API-Version' => '1.95' }
    answers = [client.post(path, { 'actions' => 1 }, header), client.get('/v1/nope', header),
               client.exchange("GET /nodes x HTTP/1.1\r\n#{header.first.join(': ')}\r\n\r\n")]
    expect(answers.map(&:status)).to eq([400, 404, 400])
    expect(answers.first(2)).to all(have_attributes(headers: include('content-type' => 'application/json')))
    expect(answers.map { |answer| JSON.parse(answer.data['error_message'])['faultstring'] })
      .to match([start_with('actions: '), start_with('there is no'), start_with('malformed request: its ')])
    expect(client.get('/v1/nope').headers['content-type']).to eq('application/problem+json')
  end

  it 'refuses a rule with a wrong field, and names the place' do
    { { 'conditions' => [] } => 'actions: ',
      { **rule, 'priority' => 10_000 } => 'priority: ', { **rule, 'priority' => -1 } => 'priority: ',
      { **rule, 'uuid' => 'x' } => 'uuid: ', { **rule, 'colour' => 1 } => 'colour',
      { **rule, 'phase' => 'late' } => 'phase', '{"actions":' => 'the body cannot be read: not a JSON document',
      '[]' => 'the body must be an object', '' => 'the body cannot be read: not a JSON document' }.each do |body, why|
      expect(client.post(path, body)).to have_attributes(status: 400, detail: include(why))
    end
    expect(client.get(path).data).to eq('inspection_rules' => [])
  end

  it 'refuses a second rule of one uuid' do
    create(uuid: uuid)
    expect(client.post(path, rule.merge('uuid' => uuid)).status).to eq(409)
  end

  it 'refuses patches of what cannot be changed' do
    create(uuid: uuid, sensitive: true)
    [['/built_in', true], ['/sensitive', false], ['/priority', 10_000], ['/uuid', uuid.tr('6', '7')],
     ['/colour', 1]].each do |place, value|
      patch = [{ 'op' => 'add', 'path' => place, 'value' => value }]
      expect(client.patch("#{path}/#{uuid}", patch)).to have_attributes(status: 400)
    end
    expect(client.patch("#{path}/#{uuid}", '{}').status).to eq(400)
    expect(client.patch("#{path}/#{uuid.tr('6', '7')}", []).status).to eq(404)
  end

  it 'replaces a description that is null, and takes a slash after the uuid' do
    create(uuid: uuid)
    changed = client.patch("#{path}/#{uuid}/", [{ 'op' => 'replace', 'path' => '/scope', 'value' => 'rack' }])
    expect(changed).to have_attributes(status: 200, data: include('scope' => 'rack'))
    expect(client.get("#{path}/#{uuid}/").data['scope']).to eq('rack')
  end

  it 'shows no conditions and no actions of a sensitive rule' do
    created = create(uuid: uuid, sensitive: true)
    listed = client.get("#{path}?detail=true").data['inspection_rules'].first
    expect([created, listed, client.get("#{path}/#{uuid}").data])
      .to all(include('sensitive' => true, 'conditions' => nil, 'actions' => nil))
  end

  it 'lists rules in order of precedence, without conditions and actions' do
    create(description: 'low')
    create(description: 'high', priority: 5)
    create(description: 'early', phase: 'early', actions: [{ 'op' => 'log', 'args' => ['hello'] }])
    rules = client.get(path).data['inspection_rules']
    expect(rules.map { |each| each['description'] }).to eq(%w[early high low])
    expect(rules.flat_map(&:keys) & %w[conditions actions]).to eq([])
    expect(client.get("#{path}/?detail=True").data['inspection_rules']).to all(include('conditions', 'actions'))
  end

  it 'chooses, sorts, and cuts the list into pages' do
    3.times { |number| create(description: "rule #{number}", scope: number.zero? ? 'rack' : nil) }
    descriptions = lambda { |query|
      client.get("#{path}?#{query}").data['inspection_rules'].map do |each|
        each['description']
      end
    }
    expect(descriptions.call('scope=rack')).to eq(['rule 0'])
    expect(descriptions.call('phase=early')).to eq([])
    expect(descriptions.call('sort_key=description&sort_dir=desc')).to eq(['rule 2', 'rule 1', 'rule 0'])

    first = client.get("#{path}?limit=2&fields=uuid").data
    expect(first['inspection_rules'].map(&:keys)).to eq([%w[uuid], %w[uuid]])
    rest = client.get(first['next'].sub(%r{\Ahttp://[^/]+}, '')).data
    expect(rest['inspection_rules'].length).to eq(1)
    expect(rest).not_to include('next')
  end

  it 'refuses unknown parameters and values' do
    ['foo=1', 'limit=x', 'limit=-1', 'sort_key=foo', 'sort_dir=up', 'phase=late', 'detail=perhaps', 'fields=foo',
     'fields=', "marker=#{uuid}", 'fields=uuid&detail=true', 'scope[]=a', 'scope=%ff'].each do |query|
      expect(client.get("#{path}?#{query}")).to have_attributes(status: 400)
    end
  end

  describe 'for clients that negotiate a version' do
    it 'answers with the versions that it has' do
      answer = client.get(path, 'X-OpenStack-Ironic-API-Version' => '1.115', 'X-Auth-Token' => 'x')
      expect(answer.headers).to include('x-openstack-ironic-api-version' => '1.115',
                                        'x-openstack-ironic-api-minimum-version' => '1.1',
                                        'x-openstack-ironic-api-maximum-version' => '1.115')
      refused = client.get(path, 'X-OpenStack-Ironic-API-Version' => '1.900')
      expect(refused).to have_attributes(
        status: 406, headers: include('x-openstack-ironic-api-maximum-version' => '1.115')
      )
    end

    it 'has the versions in each answer, also in those that refuse' do
      answers = [client.get('/'), client.get('/v1'), client.get("#{path}/#{uuid}"), client.post(path, '{'),
                 client.patch(path, []), client.get("#{path}?x=1"), client.get('/v1/%zz')]
      expect(answers.map(&:status)).to eq([200, 200, 404, 400, 405, 400, 400])
      expect(answers.map(&:headers)).to all(include('x-openstack-ironic-api-maximum-version' => '1.115',
                                                    'x-openstack-ironic-api-version' => String))
    end

    it 'has documents by which they find the rules' do
      expect(client.get('/').data['versions'].first).to include('id' => 'v1', 'links' => [include('rel' => 'self')])
      expect(client.get('/v1/').data['inspection_rules'].first['href']).to end_with("#{path}/")
    end

    it 'says what is wrong in error_message, too' do
      message = JSON.parse(client.get("#{path}/#{uuid}").data['error_message'])
      expect(message['faultstring']).to eq("there is no rule #{uuid}")
    end
  end

  it 'fails a list if a rule cannot be read, unless the client asks for the errors' do
    create
    store.put("globals/estate/rules/#{uuid}", '{"value":')
    [path, "#{path}/#{uuid}"].each do |each|
      expect(client.get(each)).to have_attributes(status: 500, detail: include("globals/estate/rules/#{uuid}"),
                                                  data: include('key' => "globals/estate/rules/#{uuid}"))
    end
    expect(client.get("#{path}?errors=return").data)
      .to match('inspection_rules' => [be_a(Hash)], 'errors' => { "globals/estate/rules/#{uuid}" => be_a(String) })
  end
end

RSpec.describe 'The API of inspection rules, some of which are built-in,' do
  include_context 'with a service'
  include_context 'with an inspection rule'

  it 'deletes all rules but built-in ones, which nobody changes' do
    file = File.join(service.folder, 'rules.yaml')
    File.write(file, [{ 'uuid' => uuid, **rule }].to_yaml)
    service.configure(options.merge('estate' => { 'inspection_rules' => { 'built_in' => file } }))
    service.terminate
    service.start
    create
    expect(client.get("#{path}/#{uuid}").data).to include('built_in' => true)
    expect(client.delete("#{path}/#{uuid}").status).to eq(400)
    expect(client.patch("#{path}/#{uuid}", [{ 'op' => 'add', 'path' => '/scope', 'value' => 'x' }]).status).to eq(400)
    expect(client.delete(path).status).to eq(204)
    expect(client.get(path).data['inspection_rules']).to match([include('uuid' => uuid)])
  end
end
