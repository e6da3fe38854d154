# frozen_string_literal: true

require_relative 'rubies'

# Defines a stage of the tests; the block runs its commands.
def stage(name, text, &commands)
  desc "Stage: #{text}"
  task("stage:#{name}") { Stages.run(name.to_s, commands) }
end

# Defines a stage that runs specs.
def specs(name, ruby, text, *arguments)
  stage(name, text) { |stage| stage.sh(*Rubies.rspec(ruby, *arguments)) }
end

# A command that makes a target of the core. Two jobs suit two processors, and tests that wait for servers. Each C test
# is a program, and gold links it in a third of the time of ld.
def core(*arguments, jobs: 2)
  linker = ['LDFLAGS=-fuse-ld=gold'] if system('ld.gold', '--version', out: File::NULL)
  ['make', '-C', 'ext/core', "-j#{jobs}", '-Otarget', '--no-print-directory', 'WERROR=-Werror', *linker, *arguments]
end

# @param names [Array<String>] of folders of specs
# @return [Array<String>] where they are, in all gems. A folder that no gem has is in the list, too, because RSpec runs
#   all specs if it gets none. A copy without specs is only built
def folders(*names)
  names.flat_map do |name|
    found = Dir["{,gems/*/}spec/#{name}"].sort
    found.any? ? found : ["spec/#{name}"]
  end
end

# The specs of the library that call the native part most.
NATIVE = Dir['spec/unit/{audited,binding,codec,dn,key,memory,native,rules_cases,store}*_spec.rb'].sort.freeze

# The same, and those whose code does something else on JRuby, or calls back from the native part into Ruby.
ON_JRUBY = [*NATIVE, *Dir['spec/unit/{audit_trail,deadline,encrypted,errors,isolation,secret_native,vardirs,' \
                          'versioned,versions}*_spec.rb'].sort].freeze

# ---- The tests that `bin/test` runs by default: this Ruby, files and slapd

stage(:core, 'the C tests') { |stage| stage.sh(*core('test')) }
specs(:cext_unit, :cext, 'the library, on MRI with the extension', '--tag', '~tools', *folders('unit'))
specs(:cext_functions, :cext, 'the Puppet functions, on MRI with the extension', *folders('functions'))
specs(:cext_conformance, :cext, 'the conformance suite on files and slapd', '--tag', '~ds389', 'spec/conformance',
      'spec/functions/platform_spec.rb')

BASIC = %w[core cext_conformance cext_functions cext_unit].freeze

# ---- Quick tests, which start no server

stage(:quick_core, 'the C tests that take less than a second and start no server') do |stage|
  stage.sh(*core('test-quick'))
end
specs(:quick_unit, :cext, 'the quick examples of the library', *%w[--tag ~thorough --tag ~heavy --tag ~tools],
      *folders('unit'))
specs(:quick_functions, :cext, 'the functions, on files and on a plugin', *%w[--tag ~thorough --tag ~heavy],
      *%w[functions/signatures conformance/keys conformance/places].map { |name| "spec/#{name}_spec.rb" })

QUICK = %w[quick_unit quick_core quick_functions].freeze

# ---- The tests of changed files

stage(:changed, 'the specs and C tests of the files that differ from main') do |stage|
  require_relative 'changed'
  changed = Changed.new
  raise "no test is found for #{changed.untested.join(', ')}" if changed.untested.any?

  (changed.specs.any? ? changed.rubies : []).each do |ruby|
    variables, *command = Rubies.rspec(ruby, *changed.options, *changed.specs)
    stage.sh(variables.merge(changed.variables), *command)
  end
  stage.sh(*core('test', "ONLY=#{changed.c_tests.join(' ')}")) if changed.c_tests.any?
  stage.sh(*core('fuzz', 'SECONDS=15', "ONLY=#{changed.fuzzers.join(' ')}")) if changed.fuzzers.any?
end

# ---- Other Rubies, servers and packages

specs(:tools, :cext, 'examples that need packages which `bin/test` leaves out', '--tag', 'tools',
      *folders('unit'))
specs(:ds389_conformance, :cext, 'the conformance suite on 389-DS', '--tag', 'ds389', 'spec/conformance')
specs(:jruby93_conformance, :jruby93, "the conformance suite on Debian's JRuby and Puppet", '--tag', '~ds389',
      'spec/conformance', 'spec/functions/platform_spec.rb')
stage :jruby93_compiled, "the conformance suite on Debian's JRuby, which compiles Ruby to bytecode" do |stage|
  variables, *command = Rubies.rspec(:jruby93, '--tag', '~ds389', 'spec/conformance')
  stage.sh(variables.merge(Rubies::COMPILING, 'LONG' => '1'), *command)
end
specs(:ffi_unit, :ffi, 'the binding, the codec and the stores, on MRI with FFI', *NATIVE)
specs(:ffi_functions, :ffi, 'the Puppet functions, on MRI with FFI', *folders('functions'))
specs(:jruby93_unit, :jruby93, "the binding, the codec and the stores, on Debian's JRuby", '--tag', '~thorough',
      *ON_JRUBY)
specs(:jruby93_library, :jruby93, "the library, on Debian's JRuby", '--tag', '~thorough', *folders('unit'))
specs(:jruby93_functions, :jruby93, "the Puppet functions, on Debian's JRuby and Puppet", *folders('functions'))
specs(:jruby94_unit, :jruby94, 'the binding, the codec and the stores, on the newest JRuby', '--tag', '~thorough',
      *NATIVE)
specs(:jruby94_functions, :jruby94, 'the Puppet functions, on the newest JRuby', *folders('functions'))
specs(:cext_servers, :cext, 'real servers, on MRI with the extension', *folders('integration'))
specs(:ffi_servers, :ffi, 'real servers, on MRI with FFI', *folders('integration'))
# The Rubies of other releases of Debian, in chroots. Debian has no gem ffi for the Ruby of experimental.
{ ruby27: 'bullseye', ruby33: 'trixie', ruby34: 'experimental' }.each do |name, suite|
  without = suite == 'experimental' ? %w[--tag ~ffi] : []
  stage(name, "the binding, the codec and the stores, on the Ruby of Debian's #{suite}") do |stage|
    stage.sh_in_copy(*Rubies.other_ruby(suite, *%w[--tag ~thorough --tag ~tools], *without, *NATIVE))
  end
end

# rspec-puppet does not load on JRuby 10: it takes the machine for Windows, since fiddle is there. So the conformance
# suite stands for the specs of functions.
{ jruby10_unit: ['the library', *folders('unit')],
  jruby10_functions: ['the Puppet functions', 'spec/functions/platform_spec.rb',
                      *%w[keys places values].map { |name| "spec/conformance/#{name}_spec.rb" }] }
  .each do |name, (text, *files)|
  stage(name, "#{text}, on JRuby 10 with the Java of Debian's trixie") do |stage|
    stage.sh(Rubies::JRUBY10, 'bundle', 'install', '--quiet')
    stage.sh_in_copy(*Rubies.jruby10('--tag', '~thorough', '--tag', '~heavy', '--tag', '~tools', *files))
  end
end

stage(:long, "the examples that take minutes each, or need a systemd, clang's analyzer, and comparisons") do |stage|
  stage.sh(*core('tidy'))
  stage.sh('bin/bench', '--quick', *%w[access audit estate rotation rules service])
  variables, *command = Rubies.rspec(:cext, '--tag', 'long',
                                     *folders(*%w[unit access availability command conformance console distribution
                                                  estate integration load package puppetserver server types]))
  stage.sh(variables.merge('LONG' => '1', 'BUNDLE_WITH' => 'server'), *command, limit: 2 * 3600)
end
stage(:planted, 'defects that are planted in a copy, each of which a test must catch: spec/planted') do |stage|
  stage.sh_in_copy('bundle', 'exec', 'rake', 'compile')
  stage.sh_in_copy('bundle', 'exec', 'ruby', 'rakelib/planted.rb', limit: 4 * 3600)
end
{ jruby93: "Debian's JRuby", jruby94: 'the newest JRuby' }.each do |ruby, name|
  specs("#{ruby}_servers", ruby, "the store in a directory, on #{name}",
        *%w[batches hostile idle interrupts store trees watch].map { |file| "spec/integration/ldap_#{file}_spec.rb" })
end
specs(:estate, :cext, 'facts, exported resources, nodes and reports', *folders('estate'))
specs(:jruby93_estate, :jruby93, "facts, exported resources, nodes and reports, on Debian's JRuby and Puppet",
      '--tag', '~thorough', *folders('estate'))
specs(:types, :cext, 'keys as resources, and classes', *folders('types', 'classes'))
specs(:command, :cext, 'the command simpkv', *folders('command'))
specs(:access, :cext, 'users, roles and access rights in directories', *folders('access'))
{ server: 'the service', console: 'the pages of the service', query: 'queries of the estate',
  puppetdb: 'the import from a PuppetDB, queries beside one, and its terminus with the service' }.each do |name, text|
  stage(name, text) do |stage|
    variables, *command = Rubies.rspec(:cext, *folders(name))
    stage.sh(variables.merge('BUNDLE_WITH' => 'server'), *command)
  end
end
# Leaves out the specs that start more than a directory server.
stage :alone, 'each gem without the gems above it, on those below it as they are installed' do |stage|
  stage.sh_in_copy('bundle', 'exec', 'rake', 'core')
  stage.sh_in_copy({ 'SIMPKV_NATIVE' => 'cext', 'BUNDLE_WITH' => 'server' }, 'bundle', 'exec', 'ruby',
                   'rakelib/alone.rb', limit: 2 * 3600)
end
specs(:packages, :cext, 'the gems and the module', 'spec/package')
specs(:distribution, :cext, 'the packages of distributions', 'spec/distribution')
specs(:fresh_demo, :cext, 'a demo on a fresh Debian', 'spec/fresh')
stage :fresh, 'all demos, and the commands of the pages, on fresh machines of Debian 12 and 13' do |stage|
  variables, *command = Rubies.rspec(:cext, '--tag', 'long', 'spec/fresh')
  stage.sh(variables.merge('LONG' => '1'), *command, limit: 3 * 3600)
end
# What the service may run with, and what its packages bring, has no published hole.
stage :advisories, 'published holes of the gems that the service needs' do |stage|
  home = "#{Stages.gems}/bundler-audit"
  stage.sh({ 'GEM_HOME' => home }, 'gem', 'install', '--silent', '--no-document', '--conservative',
           'bundler-audit:0.9.3')
  stage.sh({ 'GEM_HOME' => home }, 'rakelib/advisories.rb')
end
specs(:puppetserver, :cext, 'puppetserver with agents', *folders('puppetserver'))

stage :newest_json, 'the codec, beside the newest json gem' do |stage|
  variables, *command = Rubies.rspec(:cext, *Dir['spec/unit/codec*_spec.rb'])
  stage.sh(variables.merge('BUNDLE_WITH' => 'lint'), *command)
end

# The stage jruby93_conformance runs the conformance suite with this Puppet.
stage :puppet7, "Debian's Puppet 7, on MRI with FFI" do |stage|
  variables, *command = Rubies.rspec(:ffi)
  stage.sh(Rubies::DEBIAN_PUPPET, 'bundle', 'install', '--quiet')
  types = %w[authorized_keys expiry keys purging simpkv_folder simpkv_key].map { |name| "spec/types/#{name}_spec.rb" }
  stage.sh(variables.merge(Rubies::DEBIAN_PUPPET), *command, '--tag', '~thorough', '--tag', '~ds389',
           'spec/functions/platform_spec.rb', *types, 'gems/simpkv-access/spec/types/access_spec.rb')
end
stage :puppet7_functions, "the Puppet functions on Debian's Puppet 7, on MRI with FFI" do |stage|
  variables, *command = Rubies.rspec(:ffi)
  stage.sh(Rubies::DEBIAN_PUPPET, 'bundle', 'install', '--quiet')
  stage.sh(variables.merge(Rubies::DEBIAN_PUPPET), *command, *folders('functions'))
end

# The stage puppetserver has agents with an estate on this Puppet.
stage :puppet7_estate, "facts, exported resources, nodes and reports, on Debian's Puppet 7 with FFI" do |stage|
  variables, *command = Rubies.rspec(:ffi)
  stage.sh(Rubies::DEBIAN_PUPPET, 'bundle', 'install', '--quiet')
  stage.sh(variables.merge(Rubies::DEBIAN_PUPPET), *command, '--tag', '~thorough', '--tag', '~ds389',
           *folders('estate'))
end

# What differs between Puppet 8 and OpenVox 8 is how functions are called, and values.
stage :puppet8, 'Puppet 8, on MRI with the extension' do |stage|
  variables, *command = Rubies.rspec(:cext)
  stage.sh(Rubies::PUPPET8, 'bundle', 'install', '--quiet')
  files = %w[functions/platform functions/signatures conformance/keys conformance/places conformance/values]
  stage.sh(variables.merge(Rubies::PUPPET8), *command, *%w[--tag ~thorough --tag ~heavy],
           *files.map { |name| "spec/#{name}_spec.rb" })
end

# Bolt gets a folder of its own: it has sixty gems, and requires another version of Puppet Strings than the style check.
stage :bolt, 'tasks and plans of Bolt' do |stage|
  home = "#{Stages.gems}/bolt"
  stage.sh({ 'GEM_HOME' => home }, 'gem', 'install', '--silent', '--no-document', '--conservative', 'bolt:4.0.0')
  variables, *command = Rubies.rspec(:cext, *folders('bolt'))
  # The plugin puppetdb of Bolt asks the service.
  stage.sh(variables.merge('BOLT_HOME' => home, 'BUNDLE_WITH' => 'server'), *command)
end

# They have many gems, some of them old, and each brings its own versions of what others use.
CLIENTS = %w[puppetdb_cli:2.0.1 puppetdb-ruby:1.2.0 puppetdb_query:0.1.2 octocatalog-diff:2.3.1
             choria-mcorpc-support:2.27.0].freeze
# Linters of the description of the API, and what makes a client of it.
PACKAGES_OF_NPM = %w[@backstage/plugin-catalog-backend-module-puppetdb@0.2.26 @redocly/cli@2.77.0
                     @stoplight/spectral-cli@6.16.3 openapi-fetch@0.17.0 openapi-typescript@7.13.0
                     typescript@5.9.3].freeze
stage :clients, 'clients of PuppetDB, unchanged, with the service; and one that is generated' do |stage|
  home = "#{Stages.gems}/clients"
  stage.sh({ 'GEM_HOME' => "#{home}/gems" }, 'gem', 'install', '--silent', '--no-document', '--conservative', *CLIENTS)
  stage.sh('npm', 'install', '--prefix', "#{home}/npm", '--no-package-lock', '--ignore-scripts', '--no-audit',
           '--no-fund', '--silent', *PACKAGES_OF_NPM)
  variables, *command = Rubies.rspec(:cext, *folders('clients'))
  stage.sh(variables.merge('CLIENTS_HOME' => home, 'BUNDLE_WITH' => 'server'), *command)
end

# Options, places and the like do not depend on encryption, nor does encryption on the store: for each change, the stage
# cext_servers has encrypted documents in a directory.
{ encrypted_conformance: [:cext, 'encrypted files, on MRI', '~thorough', {}],
  jruby94_encrypted: [:jruby94, 'encrypted files and slapd, on the newest JRuby', '~ds389', { 'LONG' => '1' }] }
  .each do |name, (ruby, text, tag, more)|
  stage(name, "the conformance suite on #{text}") do |stage|
    files = %w[creation expiry keys many missing stored_bytes values].map { |each| "spec/conformance/#{each}_spec.rb" }
    variables, *command = Rubies.rspec(ruby, '--tag', '~heavy', '--tag', tag, *files)
    stage.sh(variables.merge('ENCRYPTED' => '1').merge(more), *command, 'spec/functions/platform_spec.rb')
  end
end

# ---- Faults, load, sanitizers, fuzzers, analysis

specs(:faults, :cext, 'servers killed and cut off', 'spec/faults')
specs(:availability, :cext, 'pairs of servers, of which one fails while catalogs are compiled',
      *folders('availability'))

# LOAD_SECONDS=600 keeps each server busy for ten minutes.
{ load: :cext, jruby94_load: :jruby94 }.each do |name, ruby|
  stage name, "many threads and processes at once#{', on the newest JRuby' if ruby == :jruby94}" do |stage|
    variables, *command = Rubies.rspec(ruby, *folders('load'))
    stage.sh(variables.merge('LOAD_SECONDS' => ENV.fetch('LOAD_SECONDS', '2')), *command)
  end
end

{ asan: 'ASan and UBSan', tsan: 'TSan',
  chaos: 'ASan and UBSan, also with each allocation failing in turn' }.each do |build, tool|
  stage(build, "the C tests with #{tool}") { |stage| stage.sh(*core(build.to_s)) }
end
stage(:core_alone, 'the C tests that sanitizers leave out') { |stage| stage.sh(*core('test-alone')) }

stage(:valgrind, 'the C tests with valgrind') { |stage| stage.sh(*core('valgrind')) }

# Turns off three checks: Ruby jumps over stack frames, has signal stacks of its own, and does not free memory at exit.
stage :ruby_sanitizers, 'the extension with ASan and UBSan' do |stage|
  sanitizers = '-fsanitize=address,undefined'
  cflags = "-O1 -g1 -fno-omit-frame-pointer #{sanitizers} -fno-sanitize-recover=undefined --param=asan-stack=0"
  stage.sh_in_copy('bundle', 'exec', 'rake', 'compile', '--', "--with-ldflags=#{sanitizers}", "--with-cflags=#{cflags}")
  stage.sh_in_copy('sh', '-c', 'nm -D lib/simpkv/simpkv_ext.so | grep -q __asan_')
  variables, *command = Rubies.rspec(:cext, '--tag', '~thorough', *NATIVE, 'spec/integration/ldap_store_spec.rb',
                                     'spec/integration/ldap_interrupts_spec.rb')
  preload = { 'LD_PRELOAD' => `cc -print-file-name=libasan.so`.chomp,
              'ASAN_OPTIONS' => 'detect_leaks=0:use_sigaltstack=0' }
  stage.sh_in_copy(variables.merge(preload), *command)
end

# The servers keep Debian's libldap. The specs check which one they have loaded.
stage :libldap_openssl, 'connections over libldap built with OpenSSL, as on Enterprise Linux' do |stage|
  stage.sh('rakelib/build_libldap.sh')
  libldap = `rakelib/build_libldap.sh`.chomp
  rpath = "-Wl,-rpath,#{libldap}/lib"
  stage.sh_in_copy('bundle', 'exec', 'rake', 'compile', '--', "--with-opt-dir=#{libldap}", "--with-ldflags=#{rpath}")
  specs = %w[connections hostile messages tls transports].map { |name| "spec/integration/ldap_#{name}_spec.rb" }
  variables, *command = Rubies.rspec(:cext, '--require', './spec/support/loaded_libldap', *specs)
  stage.sh_in_copy(variables.merge('LIBLDAP' => "#{libldap}/lib"), *command)
  stage.sh_in_copy(*core('run-tests', 'BUILD=build/openssl', 'CFLAGS=-O1 -g', "CPPFLAGS=-I#{libldap}/include",
                         "LDFLAGS=-L#{libldap}/lib #{rpath}", 'ONLY=test_connection test_tls_context'))
end

# FUZZ_SECONDS=3600 feeds each fuzzer for an hour, and the specs with as many queries. SEED=random makes them others.
stage :fuzz, 'the fuzzers, and specs with random contents that no other weekly stage runs' do |stage|
  seconds = ENV.fetch('FUZZ_SECONDS', '8')
  stage.sh(*core('fuzz', "SECONDS=#{seconds}", jobs: 6), limit: 4 * 3600)
  variables, *command = Rubies.rspec(:cext, *Dir['gems/*/spec/query/{*fuzz,index_races}_spec.rb'].sort,
                                     *folders('server/hostile_requests_spec.rb'), 'spec/faults/ldap_network_spec.rb')
  queries = { 'FUZZ_QUERIES' => ENV.fetch('FUZZ_QUERIES', (Integer(seconds) * 100).to_s) }
  stage.sh(variables.merge(queries, 'BUNDLE_WITH' => 'server'), *command, limit: 3600)
end

# GCC's analyzer and cppcheck follow the paths through the code. That of clang does too, and takes longer than both: the
# stage `long` runs it.
stage :analysis, '-fanalyzer, cppcheck and clang-tidy' do |stage|
  stage.sh(*core('analyze'))
  stage.sh(*core('tidy', 'TIDY=-clang-analyzer-*'))
end

# Checks that the contestants work and return the same. The stage `long` runs comparisons with --quick, which are too
# short for their times to be valid, and have no PuppetDB.
stage :bench, 'the comparisons, and the number of instructions' do |stage|
  stage.sh('make', '-C', 'bench/c', '--no-print-directory', '--silent', 'WERROR=-Werror')
  stage.sh('bin/bench', '--check')
end

stage :style, 'linters, formatters, layers, and pages that are out of date' do |stage|
  lint = { 'BUNDLE_WITH' => 'lint' }
  # Without a cache of an earlier run, rubocop takes minutes.
  compiled = defined?(RubyVM::YJIT) ? { 'RUBYOPT' => '--yjit' } : {}
  stage.sh(lint.merge(compiled), 'bundle', 'exec', 'rubocop', '--format', 'quiet')
  stage.sh(lint, 'bundle', 'exec', 'rake', 'docs:check', 'layers')
  stage.sh(lint, 'bundle', 'exec', 'metadata-json-lint', '--strict-dependencies', '--strict-puppet-version',
           'metadata.json')
  stage.sh(lint, 'bundle', 'exec', 'puppet-lint', '--fail-on-warnings', '--no-autoloader_layout-check', 'examples',
           'manifests', 'plans', 'types')
  stage.sh(*core('format'))
  stage.sh('make', '-C', 'bench/c', '--no-print-directory', 'format')
  stage.sh('shellcheck', '-x', '-P', 'SCRIPTDIR', *Dir['bin/*', '{rakelib,tasks}/*.sh'], '.ci/run',
           'ext/core/configure', *Dir['packaging/{chroot,deb,fill,newcomer*,re*,rpm,smoke-test,source,try,version}',
                                      'packaging/debian/*.{postinst,prerm}'])
end

# rake takes stages from both ends, so the longest ones are there, and short ones are in the middle, which ends last.
# chaos and core_alone run all that asan and core run. The conformance suite stands for all specs of functions on JRuby,
# with Debian's Puppet 7. The stage puppetserver has the estate and the directory on Debian's JRuby.
ALL = %w[
  cext_servers puppetserver packages analysis cext_unit jruby93_unit estate core_alone puppet7 bench server chaos
  encrypted_conformance puppetdb tsan faults jruby93_conformance
  ds389_conformance style query newest_json tools puppet8
  cext_functions fresh_demo
  console cext_conformance access types load command
].freeze

# ---- Suites

# Defines a task that runs stages in parallel, and fails if one of them fails. It prints how long it took, and how many
# minutes it should take on two processors.
def suite(name, text, stages, minutes)
  multitask("#{name}:stages" => stages.map { |stage| "stage:#{stage}" })
  desc "#{text} (at most #{minutes} minutes)"
  task(name => "#{name}:stages") { Stages.report(minutes) || abort }
end

suite('test', 'Test this Ruby, with files and slapd', BASIC, 5)
suite('test:quick', 'Test without servers', QUICK, 2)
suite('test:changed', 'Run the tests of the files that differ from main', %w[changed], 5)
suite('test:all', 'Test everything: every Ruby, real servers, sanitizers, style', ALL, 30)
task default: 'test:quick'

desc 'Run some stages, one after the other: rake stages[style,core]'
task :stages do |_task, arguments|
  arguments.extras.each { |name| Rake::Task["stage:#{name}"].invoke }
  Stages.report || abort
end

desc 'Run the specs of the library, the functions and the conformance suite on this Ruby'
task(:spec) { sh('bundle', 'exec', 'rspec', *folders('unit', 'functions', 'conformance')) }

Dir['{,gems/*/}spec/*/*_spec.rb'].group_by { |file| File.basename(File.dirname(file)) }.each do |folder, files|
  desc "Run the specs in spec/#{folder} of each gem, after installing what they need"
  task("spec:#{folder}") do
    require_relative 'changed'
    changed = Changed.new(files)
    Bundler.with_unbundled_env { sh('bin/setup', *changed.needs) }
    sh(changed.variables, 'bundle', 'exec', 'rspec', *folders(folder))
  end
end
