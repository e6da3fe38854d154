# frozen_string_literal: true

require 'json'
require 'open3'
require_relative '../support/another_ruby'
require_relative '../support/file_store'
require_relative '../support/slapd'

# Only the extension for MRI handles objects of Ruby in C.
RSpec.describe 'Memory', :thorough, needs: :cext do
  native = Simpkv::Native
  program = File.expand_path('../support/under_stress.rb', __dir__)

  { 'collected' => false, **(GC.respond_to?(:auto_compact=) ? { 'compacted' => true } : {}) }.each do |what, compacting|
    describe "that is #{what} at every allocation" do
      include FileStoreHelp

      # Makes the calls of {UnderStress} in another process, as usual and under stress.
      define_method(:expect_the_usual) do |use, options = {}|
        command = AnotherRuby.command(program, use, what, JSON.generate(options))
        output, status = Open3.capture2({ 'RUBYOPT' => nil }, *command)
        expect(status).to be_success
        usual, stressed, collections, moves = JSON.parse(output).values_at('usual', 'stressed', 'collections', 'moves')
        expect(stressed).to eq(usual)
        expect([collections, moves.to_i]).to match([be >= 10, compacting ? be > 0 : 0])
        usual
      end

      it 'leaves documents intact that are written and read' do
        expect(expect_the_usual('documents').length).to eq(1)
      end

      it 'leaves the calls of a store intact' do
        expect(expect_the_usual('store', 'root_path' => root).length).to eq(9)
      end

      it 'leaves the calls on entries intact' do
        Slapd.run do |server|
          expect(expect_the_usual('entries', server.options('admin_dn' => Slapd::ROOT_DN)).length).to eq(9)
        end
      end

      it 'leaves the calls of rules intact' do
        expect(expect_the_usual('rules').length).to eq(3)
      end
    end
  end

  def raised
    yield
  rescue Simpkv::Error => e
    e.message
  end

  def resident
    GC.start
    File.read('/proc/self/statm').split[1].to_i * 4096
  end

  it 'is freed with the rules of threads that initialize one object at once, but of the first one' do
    json = JSON.generate('rules' => Array.new(300) { { 'actions' => [{ 'op' => 'log', 'args' => ['x'] }] * 30 } })
    initialize_at_once = lambda do |_round|
      object = native::Rules.allocate
      threads = Array.new(4) { Thread.new { raised { object.__send__(:initialize, json) } } }
      threads.each(&:value)
    end
    10.times(&initialize_at_once)
    before = resident
    20.times(&initialize_at_once)
    # A leak took 500 MB. Each thread has a heap of its own, whose free memory counts, too.
    expect(resident - before).to be < 250_000_000
  end

  it 'is freed when a document is refused' do
    refused = ['x' * 1_000_000, Object.new]
    refuse = ->(times) { times.times { expect { native.generate(refused) }.to raise_error(Simpkv::UnencodableError) } }

    # The first calls fill the memory that a sanitizer sets aside.
    refuse.call(300)
    before = resident
    refuse.call(300)
    # A leak would take 300 MB.
    expect(resident - before).to be < 150_000_000
  end
end
