# frozen_string_literal: true

require_relative '../../../../spec/support/command'
require_relative '../../../../spec/support/file_store'
require_relative '../../../../spec/support/key_file'
require_relative '../../../../spec/support/ldap_store'
require_relative '../../../../spec/support/load'
require_relative '../../../../spec/support/processes'
require_relative '../../../../spec/support/tally'

# Keys rotate while clients read and write: `simpkv rekey` is killed several times, and resumed.
RSpec.shared_examples 'a rotation of keys under load' do
  include_context 'with the command'
  include KeyFile
  include Processes

  let(:backends) { { 'default' => options.merge('encryption_keys' => key_file) } }
  let!(:stop) { File.join(folder, 'stop') } # before there are clients
  let(:static) { Array.new(400) { |number| ["globals/static/k#{number}", %({"value":"#{number}"})] }.to_h }

  # @return [Simpkv::EncryptedStore] with connections of its own
  def encrypted
    Simpkv::Layers.over(open_below, Simpkv::Config.typed(backends['default'], 'default'))
  end

  # Runs the block in a child process until the rotation is over. Returns a pipe with what it returns at the end.
  def client
    reading, writing = IO.pipe
    pid = child { writing.write(Marshal.dump(yield(encrypted))) }
    writing.close
    [pid, reading]
  end

  # A writer, which also reads what it has written. The pauses leave processors to the rotation.
  def write(store, number)
    load = Load.new(store, number)
    loop do
      result = load.run(0.02)
      return result if File.exist?(stop) || result.anomalies.any?

      sleep 0.02
    end
  end

  # @return [Load::Result] of a reader of documents that nobody but the rotation changes
  def read(store, number)
    result = Load::Result.new(0, [], Hash.new(0), [])
    until File.exist?(stop)
      result.operations += 1
      wrong = (result.operations % 20).zero? ? wrong_list(store) : wrong_get(store, (number + result.operations) % 400)
      result.anomalies << wrong if wrong
      sleep 0.001
    end
    result
  rescue StandardError => e
    result.tap { result.anomalies << "#{e.class}: #{e.message}" }
  end

  def wrong_get(store, number)
    key = "globals/static/k#{number}"
    "get of #{key}" unless store.get(key) == static[key]
  end

  def wrong_list(store)
    listed = store.list('globals/static')
    "a list is not complete: #{listed[:errors]}" unless
      listed[:keys].transform_keys { |name| "globals/static/#{name}" } == static
  end

  def kids(store)
    store.below.list('globals/static')[:keys].values.map { |raw| store.state(raw) }.tally
  end

  # Kills the rotation twice in the middle, and completes it.
  def rotate(store, kid)
    [40, 200].each_with_index do |number, round|
      outcome = simpkv('rekey', '--jobs', '1', *('--resume' if round.positive?)) do |pid|
        sleep 0.002 until kids(store).fetch(kid, 0) > number || !File.exist?("/proc/#{pid}")
        Process.kill('KILL', pid)
      end
      expect(outcome).to have_attributes(code: -9)
    end
    # Writers with the old file of keys would need another round.
    expect(simpkv('rekey', '--resume', process: true)).to have_attributes(code: 0)
  end

  it 'fails no read and loses nothing, although rekey is killed and resumed' do
    write_keys('old')
    store = encrypted
    store.put_many(static)
    Load.prepare(store)
    clients = Array.new(4) { |number| client { |own| write(own, number) } } +
              Array.new(4) { |number| client { |own| read(own, number) } }
    kid = simpkv!('keys', 'generate').chomp
    simpkv!('keys', 'activate', kid)
    rotate(store, kid)
    simpkv!('keys', 'retire', 'old')
    FileUtils.touch(stop)
    results = clients.map { |_, reading| Marshal.load(reading.read) } # rubocop:disable Security/MarshalLoad
    expect_success_of(*clients.map(&:first))
    tally = Tally.new("keys rotated on #{options['type']}")
    tally.add(operations: results.sum(&:operations), anomalies: results.flat_map(&:anomalies))
    expect(tally.anomalies + Load.lost(store, results.first(4), {})).to eq([])
    expect([kids(store), results.map(&:operations)]).to match([{ kid => static.length }, all(be_positive)])
  ensure
    FileUtils.touch(stop)
  end
end

RSpec.describe 'A rotation of keys', needs: :cext do
  describe 'in files' do
    let(:options) { { 'type' => 'file', 'id' => 'load', 'root_path' => File.join(folder, 'keys') } }

    def open_below
      Simpkv::Store.open('file', 'root_path' => options['root_path'])
    end

    it_behaves_like 'a rotation of keys under load'
  end

  describe 'in slapd' do
    include_context 'with a directory', Slapd, limits: true

    let(:options) { directory.options('type' => 'ldap', 'id' => id) }

    def open_below
      open_store('pool_size' => 2)
    end

    it_behaves_like 'a rotation of keys under load'
  end
end
