# frozen_string_literal: true

require_relative 'nodes_helper'
require_relative '../support/spooled_writes'

RSpec.describe 'simpkv spool' do
  include_context 'with nodes'
  include SpooledWrites

  let(:spool) { File.join(folder, 'spool') }
  let(:estate_options) { { 'spool' => spool, 'spool_age' => '1d' } }

  # Leaves something, as a compiler does that reaches no server of writes.
  def leave(*writes)
    compiler = SpooledWrites.compiler(folder, estate_options).spool
    expect(writes.map { |write| compiler.save(write) }).to all(be(false))
  end

  def list
    data('spool', 'list')
  end

  def data(*arguments)
    JSON.parse(simpkv!(*arguments, '-o', 'json'))
  end

  it 'lists, shows without secrets, and delivers what runs have left' do
    leave(facts('web1', { 'os' => 'Debian', 'db_password' => 'pl4nted' }), report('web1'))
    expect(list.map { |each| each.values_at('kind', 'node') }).to eq([%w[facts web1], %w[report web1]])
    name = list.first['entry']
    expect(simpkv!('spool', 'list').lines.first(2).map(&:split))
      .to match([%w[entry kind node time bytes], [name, 'facts', 'web1', /\A\d{4}-.*Z\z/, /\A\d+\z/]])
    expect(data('spool', 'show', name)['data']['values']).to eq('os' => 'Debian', 'db_password' => '[redacted]')
    expect(data('spool', 'flush')).to eq('stored' => 2, 'left_out' => 0, 'waiting' => 0)
    expect([estate.facts.find('web1')['values']['os'], simpkv!('spool', 'list')]).to eq(['Debian', ''])
  end

  it 'shows no Sensitive parameter of a catalog, and no value that a record calls sensitive' do
    wrapped = { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }
    leave(catalog('web1', { 'content' => 'pl4nted', 'mode' => '0600', 'db_password' => 'pl4nted', 'a' => [wrapped] }),
          node('web1', { 'parameters' => { 'x' => 'pl4nted', 'y' => 1 }, 'sensitive' => ['/parameters/x'] }))
    catalog, node = list.map { |each| data('spool', 'show', each['entry'])['data'] }
    expect(catalog).to eq('name' => 'web1', 'resources' => [
                            { 'type' => 'Class', 'title' => 'main', 'parameters' => {} },
                            { 'type' => 'File', 'title' => '/a', 'sensitive_parameters' => ['content'],
                              'parameters' => { 'content' => '[redacted]', 'mode' => '0600',
                                                'db_password' => '[redacted]', 'a' => ['[redacted]'] } }
                          ])
    expect(node['parameters']).to eq('x' => '[redacted]', 'y' => 1)
    list.each { |each| expect(simpkv!('spool', 'show', each['entry'])).not_to include('pl4nted') }
  end

  it 'names what cannot be delivered, and gives it up' do
    leave(facts('web1'), facts('web2'))
    name = list.first['entry']
    File.write(File.join(spool, 'globals/spool', name), 'x')
    outcome = simpkv('spool', 'flush')
    expect([outcome.code, outcome.out]).to eq([65, "stored: 1\nleft out: 0\nwaiting: 1\n"])
    expect(outcome.err).to match(/\Asimpkv: '#{name}': /)
    expect([simpkv('spool', 'list').code, simpkv('spool', 'show', name).code]).to eq([65, 65])
    expect(data('spool', 'rm', name)).to eq('deleted' => [name], 'missing' => [])
    expect([simpkv('spool', 'rm', name).code, simpkv('spool', 'show', '../x').code]).to eq([66, 66])
  end

  it 'is told by simpkv status and doctor' do
    expect([data('status', '--parts', 'spool')['spool'], doctor]).to match([include('waiting' => 0), %w[ok empty]])
    leave(facts('web1'))
    outcome = simpkv('status', '--parts', 'spool')
    expect(outcome).to have_attributes(code: 1, out: /^warning   What runs reported waits .*: 1 step of runs \(\d+ by/)
    expect(outcome.out).to match(/^Spool\n  1 step of runs .* since \d{4}-.*Z wait$/)
    expect(doctor).to match(['warning', /\Awhat runs reported waits: 1 step/])
    old = Dir[File.join(spool, 'globals/spool/*')].min
    File.rename(old, old.sub(%r{/\d{16}}, "/#{'0' * 16}"))
    expect(simpkv('status', '--parts', 'spool', '--format', 'prometheus').out)
      .to match(/^simpkv_spool_waiting 1\.0$/).and match(/^simpkv_spool_full 1\.0$/)
    expect(simpkv('status', '--parts', 'spool').code).to eq(2)
    expect(doctor).to match(['problem', /\Ait is full \('spool_age'/])
    expect(doctor('nobody')).to match(['problem', /\Athe user nobody cannot write to #{folder}/])
  end

  it 'flushes the files of killed processes, which doctor names' do
    leave(facts('web1'))
    expect(data('spool', 'flush')).to include('stored' => 1)
    File.write(File.join(spool, 'globals/spool/.skv~0000000000000001'), 'pl4nted')
    expect(doctor).to eq(['warning', "killed processes have left 1 file in #{spool}"])
    expect(data('spool', 'flush')).to eq('stored' => 0, 'left_out' => 0, 'waiting' => 0)
    expect(doctor).to eq(%w[ok empty])
  end

  # It said to repair the server of writes, which was up, and named no entry.
  it 'has entries that cannot be stored, which doctor names' do
    leave(facts('web1'), exports('web1', 'felix'), facts('web2'))
    name = list.first['entry']
    File.write(File.join(spool, 'globals/spool', name), 'x')
    expect(simpkv('spool', 'flush').code).to eq(65)
    why = "entries that cannot be stored, and keep what is later of their nodes: #{name}"
    fix = "'simpkv spool flush' prints the reason. Remove it, or give the entry up: simpkv spool rm #{name}"
    expect(findings).to eq([['warning', why, fix]])
    leave(facts('web3'))
    expect(findings.drop(1)).to match([['warning', /\Awhat runs reported waits: 3 steps/, /\Arepair the server/]])
  end

  # @return [Array<Array(String, String, String)>] those of the spool
  def findings(user = 'root')
    findings = JSON.parse(simpkv('doctor', '--read-only', '--user', user, '-o', 'json').out)
    findings.select { |finding| finding['what'] == 'spool' }.map { |finding| finding.values_at('state', 'why', 'fix') }
  end

  # @return [Array(String, String)] the first one
  def doctor(user = 'root')
    findings(user).first.first(2)
  end

  it 'says that there is no spool, and makes none' do
    expect([simpkv!('spool', 'list'), simpkv!('spool', 'flush')]).to eq(['', "stored: 0\nleft out: 0\nwaiting: 0\n"])
    expect(File.exist?(spool)).to be(false)
    File.write(config, site.merge('estate' => {}).to_yaml)
    expect(failure('spool', 'list')).to match([78, /there is no spool: set 'spool' of 'estate'/])
  end
end
