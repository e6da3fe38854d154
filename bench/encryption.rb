# frozen_string_literal: true

require 'tmpdir'
require_relative 'support/contest'
require_relative '../spec/support/key_file'

# How much longer do calls take on an encrypted backend? Two stores hold the same documents, one of them encrypted, in
# files and in one slapd. The calls are those of the API, which all functions, termini and commands make.
class EncryptionAtRest
  KEYS = SideBySide::QUICK ? 200 : 10_000
  BATCH = 500
  FOLDER = 'environments/production/bench'
  # 100 bytes, as most documents have.
  DOCUMENTS = %w[a b].map { |letter| Simpkv::Codec.encode({ 'password' => letter * 53 }, 'owner' => 'ops') }.freeze
  PLAIN = 'plain'
  ENCRYPTED = 'encrypted'

  # @param folder [String] for the file of keys
  # @param report [Report]
  def initialize(folder, report)
    @report = report
    @keys = KeyFile.write(File.join(folder, 'keys'), [KeyFile.jwk('bench')])
  end

  # @param place [String] its name in the report
  # @param plain [Hash] the options of a backend
  # @param encrypted [Hash] of another one
  # @return [void]
  def run(place, plain, encrypted)
    stores = { PLAIN => store(plain), ENCRYPTED => store(encrypted.merge('encryption_keys' => @keys)) }
    stores.each_value { |store| fill(store) }
    get(place, stores)
    put(place, stores)
    list(place, stores)
  ensure
    stores&.each_value(&:close)
  end

  private

  def store(backend)
    others = backend['type'] == 'file' ? %w[type id encryption_keys] : %w[type encryption_keys]
    below = Simpkv::Store.open(backend['type'], backend.reject { |name, _| others.include?(name) })
    Simpkv::Layers.over(below, Simpkv::Config.typed(backend, PLAIN))
  end

  def fill(store)
    (1..KEYS).each_slice(BATCH) do |numbers|
      outcomes = store.put_many(numbers.to_h { |number| ["#{FOLDER}/k#{number}", DOCUMENTS.first] })
      outcomes.each_value { |outcome| raise outcome if outcome.is_a?(Simpkv::Error) }
    end
  end

  def contest(title, stores, **timing)
    contestants = stores.transform_values { |store| -> { yield store } }
    @report.add(SideBySide.run(title, contestants, **timing))
  end

  def get(place, stores)
    rows = contest("get of 100 B, #{place}", stores, seconds: Contest::BLOCK_SECONDS) { |each| each.get("#{FOLDER}/k1") }
    plain, encrypted = [PLAIN, ENCRYPTED].map { |name| Report.row(rows, name).median * 1e6 }
    @report.at_most("us that encryption adds to a get of 100 B, #{place}", 25, encrypted - plain)
  end

  def put(place, stores)
    contest("put of an equal value, #{place}", stores, seconds: Contest::BLOCK_SECONDS) do |each|
      each.put("#{FOLDER}/k1", DOCUMENTS.first)
    end
    turn = Hash.new(0)
    contest("put of another value, #{place}", stores, seconds: Contest::BLOCK_SECONDS) do |each|
      each.put("#{FOLDER}/own", DOCUMENTS[turn[each] = 1 - turn[each]])
    end
  end

  def list(place, stores)
    rows = contest("list of #{KEYS} keys, #{place}", stores, seconds: nil, blocks: SideBySide::QUICK ? 1 : 40) do |each|
      each.list(FOLDER)[:keys].length
    end
    @report.at_most("list of #{KEYS} keys, encrypted / plain, #{place}", 1.5, 1 / Report.ratio(rows, ENCRYPTED, PLAIN))
  end
end

report = Report.new('Encryption at rest')
Dir.mktmpdir('encryption') do |folder|
  bench = EncryptionAtRest.new(folder, report)
  Dir.mktmpdir('encryption') do |root|
    files = %w[plain encrypted].map do |name|
      { 'type' => 'file', 'id' => name, 'root_path' => File.join(root, name) }
    end
    bench.run('files', *files)
  end
  Contest::OpenLDAP.run(limits: true, durable: true) do |slapd|
    bench.run('slapd', *%w[plain encrypted].map { |id| { 'type' => 'ldap' }.merge(slapd.options('id' => id)) })
  end
end
report.print('encryption', Versions.own.merge(Versions.of('slapd', 'libssl3')))
