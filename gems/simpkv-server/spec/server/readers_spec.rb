# frozen_string_literal: true

require 'simpkv/query/builder'
require 'simpkv/server'
require_relative '../../../simpkv-estate/spec/support/estate_damage'

# Answers of the service that come from the estate, as it is damaged in each way: see
# gems/simpkv-estate/spec/estate/readers_spec.rb. A node without its inventory was an answer of 200 with `"facts": {}`,
# and a query had too few rows if facts/ or reports/ were missing while the index was made. The console knows the store
# only by these requests.
RSpec.describe 'The service on a damaged estate' do
  include_context 'with an estate to damage'

  # Requests by the path in openapi.yaml.
  readers = {
    '/v1/inspection_rules' => ['/v1/inspection_rules?detail=true', '/v1/inspection_rules?errors=return'],
    '/v1/inspection_rules/{uuid}' => ["/v1/inspection_rules/#{EstateDamage::RULE}"],
    '/v1/nodes' => ['/v1/nodes', '/v1/nodes?errors=return', '/v1/nodes?never_run=true'],
    '/v1/nodes/{certname}' => ['/v1/nodes/web1', '/v1/nodes/web1?errors=return', '/v1/nodes/declared'],
    '/v1/nodes/{certname}/facts' => ['/v1/nodes/web1/facts'],
    '/v1/nodes/{certname}/reports' => ['/v1/nodes/web1/reports', '/v1/nodes/web1/reports?errors=return'],
    '/v1/nodes/{certname}/exports' => ['/v1/nodes/web1/exports'],
    '/v1/nodes/{certname}/inspection' => ['/v1/nodes/web1/inspection'],
    '/v1/nodes/{certname}/record' => ['/v1/nodes/web1/record']
  }
  # Those that need no estate, or show keys; that have the parts of `simpkv status`; that answer from the index,
  # which {rows} makes; and the one whose documents are damaged by
  # gems/simpkv-estate/spec/unit/estate_report_details_spec.rb.
  others = %w[/ /v1 /v1/status /v1/status/history /openapi.json /healthz /readyz /metrics
              /v1/backends /v1/backends/{backend} /v1/keys /v1/key_names /v1/keys/{path}
              /v1/access /v1/access/explain /v1/access/plan /pdb/query/v4
              /pdb/query/v4/{path} /pdb/admin/v1/archive /pdb/admin/v1/summary-stats
              /pdb/meta/v1/version /pdb/meta/v1/version/latest /pdb/meta/v1/server-time /status/v1/services
              /status/v1/services/{service} /status/v1/simple /status/v1/simple/{service} /metrics/v2
              /metrics/v2/{path} /v1/report_details/{certname}/{hash} /v1/whoami]
  tables = %w[nodes facts resources reports catalogs]

  let(:folder) { Scratch.make('simpkv-index') }
  let(:options) { { 'backends' => EstateDamage.backends(root), 'estate' => EstateDamage::OPTIONS } }

  after { FileUtils.rm_rf(folder) }

  it 'are all in this table' do
    file = File.join(__dir__, '../../lib/simpkv/server/openapi.yaml')
    paths = YAML.safe_load(File.read(file), aliases: true)['paths']
    expect(paths.select { |_, methods| methods.key?('get') }.keys).to match_array(readers.keys + others)
  end

  # @return [Hash{String => Object}] by request, the body; `:error` for an error, also one in the body
  def answers(requests)
    site = Simpkv::Server::Site.new(options, nil, ->(_) {})
    owner = Simpkv::Server::Caller.new(:user, 'root', Process.euid)
    rights = Simpkv::Server::Rights.new([], local_write: false)
    api = Simpkv::Server::Api.application(site: site, rights: -> { rights },
                                          work: Simpkv::Server::Work.new(nil))
    requests.to_h { |path| [path, answer(api, path, owner)] }
  end

  def answer(application, path, owner)
    env = Rack::MockRequest.env_for(path, Simpkv::Server::Gate::CALLER => owner)
    status, _, body = application.call(env)
    data = JSON.parse(body.each.to_a.join)
    status == 200 && [nil, {}].include?(data['errors']) ? data : :error
  rescue Simpkv::Server::Problem, Simpkv::Error, Simpkv::ConfigError
    :error
  end

  # @return [Hash{String => Object}] the rows of each table of an index that is made anew
  def rows(tables)
    index = Simpkv::Query::Index.new(File.join(folder, 'index'), 'estate')
    Simpkv::Query::Builder.new(EstateDamage.estate(root), index).build
    tables.to_h { |table| [table, index.read { |database| database.execute("SELECT * FROM #{table}") }] }
  rescue Simpkv::Error, Simpkv::ConfigError
    tables.to_h { |table| [table, :error] }
  ensure
    index&.close
  end

  it 'answers as before, or with an error, whatever is damaged' do
    all = -> { answers(readers.values.flatten).merge(rows(tables)) }
    healthy = all.call
    expect(healthy.select { |_, answer| answer == :error }).to eq({})
    silent = {}
    noticed = EstateDamage.faults.to_h do |fault, damage|
      renew
      damage(damage)
      failed, answered = all.call.partition { |_, answer| answer == :error }.map(&:to_h)
      silent[fault] = answered.reject { |path, answer| answer == healthy[path] }.keys
      [fault, failed.keys]
    end
    expect(silent.reject { |_, paths| paths.empty? }).to eq({})
    expect(healthy.keys - noticed.values.flatten).to eq([])
  end
end
