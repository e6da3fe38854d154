# frozen_string_literal: true

require_relative '../support/fresh_machine'
require_relative '../support/page'

# Runs the commands of docs/install.md on fresh machines: one builds the packages, another one installs them. Then runs
# the first commands of each other page, each on a copy of the second machine.
RSpec.describe 'On a fresh machine, the commands' do
  listed = File.read(File.join(FreshMachine::ROOT, 'docs/README.md'))[/^## Start\n.*/m]
  pages = listed.scan(/\]\(([\w-]+\.md)\)/).flatten.uniq - %w[install.md]
  pages = pages.to_h { |name| [name, Page.new(name)] }.reject { |_, page| page.blocks_of('sh').empty? }

  # The commands of these need more than a machine. Other specs run some of them.
  elsewhere = {
    'access.md' => 'a directory: gems/simpkv-access/spec/access',
    'bolt-and-deferred.md' => 'Bolt, and targets: spec/bolt',
    'clients.md' => 'a service with certificates: gems/simpkv-server/spec/server/clients_spec.rb',
    'console.md' => 'a machine to log in to', 'from-puppetdb.md' => 'a PuppetDB: gems/simpkv-server/spec/puppetdb',
    'hiera.md' => 'facts of a node', 'high-availability.md' => 'two servers: spec/availability',
    'large-sites.md' => 'two estates: gems/simpkv-server/spec/command/large_sites_spec.rb',
    'moving.md' => 'a directory: spec/command',
    'performance.md' => '389 Directory Server', 'plugin-development.md' => 'a plugin',
    'puppetserver.md' => 'systemd, and a registry with the gem', 'runbook.md' => 'systemd',
    'status.md' => 'a site: gems/simpkv-server/spec/command/status_spec.rb',
    'testing.md' => 'the gems of the specs: spec/functions',
    'watch.md' => 'somebody who changes keys: spec/command'
  }

  # What the pages assume.
  assumed = {
    'backup.md' => <<~SHELL,
      mkdir /root/keys
      export BACKENDS=default BACKUP=/root/backup KEYS=/root/keys KEY_FILES=
      simpkv init
      simpkv put app1/url x
    SHELL
    'encryption.md' => "mkdir /etc/simpkv\n",
    'monitoring.md' => "apt-get install prometheus\n",
    'query.md' => "apt-get install pkgconf\ngem install simpkv-server\nsimpkv init --only estate\n",
    'service.md' => "apt-get install curl\nsimpkv init\n"
  }

  # The first commands of these only make a folder, or install something: they have a whole section.
  sections = { 'exported-resources.md' => 'On one machine, in files', 'inspection-rules.md' => 'A rule in five minutes',
               'service.md' => 'How to start it' }

  it 'of each page below "Start" are run, or known to need more' do
    expect(elsewhere.keys - pages.keys).to eq([])
    expect((assumed.keys + sections.keys).uniq - (pages.keys - elsewhere.keys)).to eq([])
  end

  # simpkv is not in a registry yet, and a machine of Debian runs no dnf. The service runs until the script ends.
  serve = <<~SHELL
    simpkv serve > serve.log &
    trap "kill $!; cat serve.log" EXIT
    until grep serving serve.log; do kill -0 $!; sleep 0.2; done
  SHELL
  adapted = lambda do |script|
    script.gsub(/^dnf .*\n/, '').gsub(/^apt-get install/, '\0 --quiet=2 --yes --no-install-recommends')
          .gsub(/^gem install (simpkv\S*)$/) { "gem install ./pkg/#{Regexp.last_match(1)}-#{Simpkv::VERSION}.gem" }
          .gsub(/^simpkv serve\n/) { serve }.gsub('bundle exec rake', 'bundle exec rake --dry-run')
  end

  install = Page.new('install.md')
  build, offline, needed, library, sums = install.blocks_of('sh')
  site = ["apt-get update --quiet=2\n", needed, "apt-get install ruby-dev puppet-agent\n",
          *%w[module MRI].map { |part| "#{install.row(part)}\n" }, offline, "(cd pkg\n#{library})\n", sums].join

  secrets = ['apt-get install hiera-eyaml', *Page.new('moving.md').blocks('Secrets of Hiera (eyaml)', 'sh').first(2)]

  %w[bookworm trixie].each do |suite|
    describe "on Debian's #{suite}", :long do
      before(:context) do
        @folder = Dir.mktmpdir('simpkv-pages')
        archive = FreshMachine.archive(suite)
        FreshMachine.new(archive).run(build) { |copy| FileUtils.cp_r("#{copy}/pkg", "#{@folder}/pkg") }
        @said = FreshMachine.new(archive)
                            .run(adapted.call(site), packages: "#{@folder}/pkg", save: "#{@folder}/site.tar")
      end

      after(:context) { FileUtils.remove_entry(@folder) }

      # @return [String] the output of commands on a copy of the machine
      define_method(:run_on_site) do |*scripts|
        FreshMachine.new("#{@folder}/site.tar").run(adapted.call(scripts.join("\n")), packages: "#{@folder}/pkg")
      end

      it 'of docs/install.md install the module, the command and the library' do
        expect(@said).to include("simpkv-#{Simpkv::VERSION}.gem: OK")
        expect(run_on_site("simpkv init\nsimpkv put a b\nls /tmp/root/usr/lib64\n")).to include('libsimpkv.so.5')
      end

      it 'of docs/functions.md store a value: the first manifest' do
        manifest = Page.new('functions.md').blocks_of('puppet').first
        said = run_on_site("cat > first.pp <<'END'\n#{manifest}END\npuppet apply first.pp\nsimpkv tree -g")
        expect(said).to match(/── db_password$/)
      end

      (pages.keys - elsewhere.keys).each do |name|
        it "of docs/#{name} succeed" do
          page = pages.fetch(name)
          script = sections.key?(name) ? page.blocks(sections[name], 'sh').join : page.blocks_of('sh').first
          run_on_site(assumed.fetch(name, ''), script)
        end
      end

      it "of docs/moving.md import secrets with Debian's hiera-eyaml" do
        expect(run_on_site(*secrets)).to match(/^verified: +true$/)
      end

      # It said that the values were damaged.
      if suite == 'bookworm'
        it 'of docs/moving.md need the public key with hiera-eyaml 3.3, and say so' do
          without = secrets.map { |script| script.gsub(' --pkcs7-public-key public.pem --dry', ' --dry') }
          expect { run_on_site(*without) }
            .to raise_error(/the public key of eyaml, which hiera-eyaml 3\.3\.0 needs to decrypt, is missing/)
        end
      end
    end
  end
end
