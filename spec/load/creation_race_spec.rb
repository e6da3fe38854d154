# frozen_string_literal: true

require_relative '../support/race'

# Many catalogs create the same keys at the same time, as several compilers do.
#
# WITHOUT=absent or WITHOUT=expect replaces that condition of a write by a read before it, which is not atomic. The
# examples that depend on the condition then fail.
RSpec.describe 'At the same moment, 16 processes', needs: :fork, heavy: true do
  include Race

  processes = 16
  keys = ENV.key?('LOAD_SECONDS') && ENV['LOAD_SECONDS'].to_i < 60 ? 200 : 1000

  # Those that take little time.
  forms = [{}, { 'format' => 'ssha' }, { 'format' => 'sha512-crypt', 'cost' => 1000 }, { 'format' => 'hex' }].freeze

  before(:context) do
    without = ENV['WITHOUT'].to_s
    Simpkv::Store.prepend(unconditional(without.to_sym)) unless without.empty?
  end

  def unconditional(without)
    Module.new do
      define_method(:put) do |key, document, condition: :any, expect: nil, **more|
        return super(key, document, condition: condition, expect: expect, **more) unless condition == without

        raise Simpkv::ConditionError if get(key, latest: true, required: false) != expect

        super(key, document)
      end
    end
  end

  Race::BACKENDS.each do |name, with|
    context "with #{name}", ds389: name == '389-DS' do
      it 'that get or create the same keys all receive the stored value of each key' do
        with.call do |backend|
          site = { 'backends' => { 'default' => backend } }
          answers = at_once(processes, site) do |world, number|
            in_disorder(keys, number) do |key|
              world.call('simpkv::get_or_create', "race/k#{key}") { |_| "of process #{number}" }['value']
            end
          end
          one_for_all = answers.transpose.map(&:uniq)
          expect(one_for_all.map(&:length).uniq).to eq([1])
          world = PuppetWorld.new(hiera: site)
          stored = world.call('simpkv::list', 'race')['keys']
          expect((1..keys).map { |key| stored["k#{key}"]['value'] }).to eq(one_for_all.flatten)
          # The processes did compete: no single process created all keys.
          expect(one_for_all.flatten.uniq.length).to be > 1
          world.close
        end
      end

      it 'that compile the example of the README, in two environments, have one password' do
        example = File.read(File.join(PuppetWorld::PROJECT, 'README.md'))[/^\$password = simpkv::secret.*'global'.*$/]
        with.call do |backend|
          passwords = at_once(processes, { 'backends' => { 'default' => backend } },
                              environments: %w[production dev]) do |world, _|
            world.compile("#{example}\nnotice($password.unwrap)")
            world.notices.grep(/\A\w{24}\z/)
          end
          expect(passwords.flatten.length).to eq(processes)
          expect(passwords.flatten.uniq.length).to eq(1)
        end
      end

      it 'that ask for the same secrets and forms all receive one secret of each key, and one form' do
        with.call do |backend|
          answers = at_once(processes, { 'backends' => { 'default' => backend } }) do |world, number|
            in_disorder(keys / 10, number) do |key|
              forms.shuffle(random: Random.new(number)).map do |format|
                [format, world.call('simpkv::secret', "race/s#{key}", format).unwrap]
              end.sort_by(&:to_s)
            end
          end
          expect(answers.transpose.map { |each| each.uniq.length }.uniq).to eq([1])
          expect(answers.first.flatten(1).map(&:last).uniq.length).to eq(keys / 10 * forms.length)
        end
      end

      it 'that compare and put the same new keys store each once' do
        with.call do |backend|
          site = { 'backends' => { 'default' => backend } }
          answers = at_once(processes, site) do |world, number|
            in_disorder(keys, number) { |key| world.call('simpkv::compare_and_put', "race/k#{key}", nil, number) }
          end
          expect(answers.transpose.map { |each| each.count(true) }.uniq).to eq([1])
        end
      end

      # 389-DS itself sometimes replaces a value twice: docs/adr/0013.
      next if name == '389-DS'

      it 'that increment one key lose no increment' do
        with.call do |backend|
          site = { 'backends' => { 'default' => backend } }
          world = PuppetWorld.new(hiera: site)
          world.call('simpkv::put', 'race/count', 0)
          counted = at_once(processes, site) do |each, _|
            (1..100).count do
              last = each.call('simpkv::get', 'race/count')['value']
              each.call('simpkv::compare_and_put', 'race/count', last, last + 1)
            end
          end
          expect(world.call('simpkv::get', 'race/count')['value']).to eq(counted.sum)
          world.close
        end
      end
    end
  end
end
