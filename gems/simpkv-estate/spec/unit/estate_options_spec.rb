# frozen_string_literal: true

require 'simpkv/config'

RSpec.describe 'The options of the estate' do
  def estate(options)
    Simpkv::Config::Sections.convert({ 'estate' => options }, 'estate')
  end

  it 'fills in defaults, those of inspection_rules too' do
    expect(estate({})).to include('unknown_nodes' => 'accept', 'reports' => 5, 'node_ttl' => nil)
    expect(estate({})['inspection_rules'])
      .to eq('built_in' => nil, 'default_scope' => nil, 'inspection_scope' => nil, 'mask_secrets' => 'always',
             'supported_interfaces' => /^(server|apply)$/)
  end

  it 'converts the options of inspection_rules' do
    given = { 'built_in' => '/etc/simpkv//rules.yaml', 'default_scope' => 'dc1', 'inspection_scope' => 'new',
              'mask_secrets' => 'sensitive', 'supported_interfaces' => 'cli' }
    expect(estate('inspection_rules' => given)['inspection_rules'])
      .to eq(given.merge('built_in' => '/etc/simpkv/rules.yaml', 'supported_interfaces' => /cli/))
  end

  { { 'secret_names' => ['pl4nted', '--'] } =>
      "'secret_names' of 'estate' must be a list of names with a letter or digit each",
    { 'unknown_nodes' => 'pl4nted' } => "'unknown_nodes' of 'estate' must be a String, accept, refuse or discover",
    { 'inspection_rules' => ['pl4nted'] } => "'inspection_rules' of 'estate' must be a Hash",
    { 'inspection_rules' => { 'builtin' => 'pl4nted' } } =>
      "Unknown option 'builtin' of 'inspection_rules' of 'estate' in simpkv configuration: did you mean 'built_in'?",
    { 'inspection_rules' => { 'built_in' => 'pl4nted' } } =>
      "'built_in' of 'inspection_rules' of 'estate' must be an absolute path",
    { 'inspection_rules' => { 'default_scope' => 'pl4nted' * 40 } } =>
      "'default_scope' of 'inspection_rules' of 'estate' must be a String of 1 to 255 characters",
    { 'inspection_rules' => { 'mask_secrets' => 'pl4nted' } } =>
      "'mask_secrets' of 'inspection_rules' of 'estate' must be a String, always, never or sensitive",
    { 'inspection_rules' => { 'supported_interfaces' => '(pl4nted' } } =>
      "'supported_interfaces' of 'inspection_rules' of 'estate' must be a regular expression: end pattern with " \
      'unmatched parenthesis' }
    .each do |options, message|
    it "refuses #{options.inspect[0, 80]}, and names the option" do
      expect { estate(options) }.to raise_error(Simpkv::ConfigError, message)
    end
  end

  it 'describe every option of inspection_rules in words' do
    rules = Simpkv::Config::Sections.demand('estate')::INSPECTION_RULES
    expect(rules.map(&:text)).to all(match(/\w+ \w+/))
    expect(rules.map { |option| Simpkv::Coercion.needed(option.type) }).to all(match(/\w+ \w+/))
  end
end
