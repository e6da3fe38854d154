# frozen_string_literal: true

require_relative '../support/estate_files'

# A folder that had been moved away used to look like an empty one: collectors found nothing, and runs began it anew.
RSpec.describe 'An estate' do
  include_context 'with an estate in files'

  let(:host) { { 'host' => [{ 'title' => 'a' }] } }
  let(:missing) { Simpkv::Estate::MissingError }

  def folder(*names)
    File.join(root, 'globals/estate', *names)
  end

  def move_away(*names)
    File.rename(File.expand_path(folder(*names)), File.join(root, 'away'))
  end

  def fill
    estate.facts.save('web1', { 'os' => { 'name' => 'Debian' } })
    estate.exports.save('web1', host, 'production')
    estate.reports.save('web1', 'status' => 'changed')
    estate.nodes.declare('web1', {})
  end

  # By folder: reads that need all of it.
  reads = {
    'exported' => [->(estate) { estate.exports.all('host') }, ->(estate) { estate.exports.all('absent') },
                   ->(estate) { estate.exports.types }],
    'exported/host' => [->(estate) { estate.exports.all('host') }],
    'facts' => [->(estate) { estate.facts.all }, ->(estate) { estate.facts.select(nil) { true } },
                ->(estate) { estate.facts.find('web1') }],
    'inventory' => [->(estate) { estate.inventory.current }, ->(estate) { estate.inventory.names }],
    'nodes' => [->(estate) { estate.nodes.all }, ->(estate) { estate.nodes.get('web1') },
                ->(estate) { estate.inspections.get_with_record('web1') }],
    'rules' => [->(estate) { Simpkv::Inspection::Rules.of(estate).list },
                ->(estate) { Simpkv::Inspection::Inspector.of(estate, []) }],
    'status' => [->(estate) { estate.statuses.all }]
  }

  reads.each do |name, calls|
    it "without its folder #{name} fails to read it" do
      fill
      move_away(name)
      calls.each { |call| expect { call.call(open_estate) }.to raise_error(missing, %r{'globals/estate/#{name}'}) }
    end

    it "whose folder #{name} is empty fails to read it" do
      fill
      FileUtils.rm_r(Dir.glob(folder(name, '{*,.estate}')))
      calls.each { |call| expect { call.call(open_estate) }.to raise_error(missing, %r{'globals/estate/#{name}'}) }
    end
  end

  {
    '.' => [->(estate) { estate.facts.save('web2', {}) }, ->(estate) { estate.exports.save('web2', {}, 'x') },
            ->(estate) { estate.reports.save('web2', 'status' => 'changed') },
            ->(estate) { estate.nodes.declare('web2', {}) }, ->(estate) { estate.nodes.update('web2') { {} } },
            lambda do |estate|
              Simpkv::Inspection::Rules.of(estate).create('actions' => [{ 'op' => 'log', 'args' => ['x'] }])
            end],
    'exported' => [->(estate) { estate.exports.save('web1', { 'file' => [{ 'title' => 'b' }] }, 'production') }],
    'exported/host' => [->(estate) { estate.exports.save('web1', { 'host' => [{ 'title' => 'b' }] }, 'production') }]
  }.each do |name, calls|
    it "without its folder #{name} does not begin it anew" do
      fill
      move_away(name)
      calls.each { |call| expect { call.call(open_estate) }.to raise_error(missing, /simpkv init/) }
      expect(Dir.glob(folder(name, '**/*'), File::FNM_DOTMATCH).reject { |path| path.end_with?('/.') }).to eq([])
    end
  end

  it 'finds nothing of a type that nobody has exported' do
    expect(estate.exports.all('absent')).to eq({})
  end

  it 'finds the first exports of a type that appear between its two reads' do
    disturbed = open_estate({}, 2 => -> { open_estate.exports.save('web1', host, 'production') })
    expect(disturbed.exports.all('host')).to eq({}).or eq('web1' => host['host'])
    expect(open_estate.exports.all('host')).to eq('web1' => host['host'])
  end

  it 'has no node with the name of a marker' do
    expect { estate.facts.save('.estate', {}) }.to raise_error(Simpkv::InvalidError, /that of a marker/)
  end

  it 'does not take a torn marker for one, nor leaves it out' do
    fill
    File.write(folder('exported/host/.estate'), '{')
    expect { estate.exports.all('host', strict: true) { nil } }
      .to raise_error(Simpkv::MalformedError, %r{exported/host/.estate' cannot be read})
  end

  it 'does not take what another program has put into its marker for an option' do
    marker = folder('inventory/.estate')
    ['{"value":{"encrypt":"pl4nted"}}', '{"value":'].each do |document|
      File.write(marker, document)
      expect { open_estate }
        .to raise_error(Simpkv::MalformedError, %r{inventory/.estate' cannot be read: (?!.*pl4nted)})
    end
  end

  describe 'made again' do
    it 'stays as it is' do
      fill
      expect(open_estate.make).to eq([])
      expect(open_estate.exports.all('host')).to eq('web1' => host['host'])
    end

    it 'adds what an estate of an earlier version lacks' do
      fill
      FileUtils.rm(Dir.glob(folder('**/.estate'), File::FNM_DOTMATCH))
      expect { open_estate.exports.all('host') }.to raise_error(missing)
      expect(open_estate.make).to include('exported/host', 'exported', 'facts', 'rules')
      expect(open_estate.exports.all('host')).to eq('web1' => host['host'])
    end

    # Its marker of the inventory does not name these folders.
    it 'adds the markers that came later, of which an estate of an earlier version lacks all' do
      fill
      Simpkv::Estate::MARKED_LATER.each { |name| FileUtils.rm(folder(name, '.estate')) }
      FileUtils.rmdir(folder('inspections'))
      File.write(folder('inventory/.estate'), '{"value":{},"metadata":{}}')
      older = open_estate
      expect([older.inspections.all, older.counters.recent, older.reports.all('web1').length]).to eq([{}, {}, 1])

      expect(open_estate.make).to match_array(Simpkv::Estate::MARKED_LATER)
      FileUtils.rm_r(folder('inspections'))
      expect { open_estate.inspections.all }.to raise_error(missing, %r{'globals/estate/inspections'})
      expect { open_estate.make }.to raise_error(missing, %r{not complete: 'globals/estate/inspections'})
    end

    it 'gives up facts that are lost' do
      fill
      FileUtils.rm(folder('facts/web1'))
      expect { open_estate.facts.all }.to raise_error(missing, %r{'globals/estate/facts/web1' is missing})
      expect(open_estate.make(incomplete: true)).to eq(['facts/web1'])
      expect(open_estate.facts.all).to eq({})
    end

    it 'refuses an estate of an earlier version that has lost a type' do
      fill
      FileUtils.rm(Dir.glob(folder('**/.estate'), File::FNM_DOTMATCH))
      move_away('exported')
      expect { open_estate.make }.to raise_error(missing, %r{not complete: 'globals/estate/exported/host' is missing})
    end

    %w[exported exported/host facts nodes].each do |name|
      it "refuses an estate that has lost #{name}, unless the operator gives it up" do
        fill
        move_away(name)
        expect { open_estate.make }.to raise_error(missing, %r{not complete: 'globals/estate/#{name}'})
        expect(File.exist?(folder(name))).to be(false)
        given_up = name.start_with?('exported') ? ['exported/host/web1'] : []
        expect(open_estate.make(incomplete: true)).to include(name, *given_up)
        expect(open_estate.exports.all('host').keys).to eq(given_up.empty? ? %w[web1] : [])
        open_estate.exports.save('web1', host, 'production')
        expect([open_estate.exports.all('host').keys, open_estate.make(incomplete: true)]).to eq([%w[web1], []])
      end
    end
  end
end
