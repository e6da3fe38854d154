# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'yaml'
require_relative '../support/packages'

# A layer over this machine, in which root runs commands. All that they write is in memory, and is gone with the layer.
# The layer has the /etc of the machine, not that of rakelib/clean_machine.sh, but it gets Facter's settings from there.
module Layer
  MOUNT = <<~SHELL
    mkdir "$1/layer"
    mount -t tmpfs layer "$1/layer"
    mkdir "$1/layer/changes" "$1/layer/work" "$1/layer/root"
    mount -t overlay -o "lowerdir=/,upperdir=$1/layer/changes,workdir=$1/layer/work" layer "$1/layer/root"
    for folder in proc sys dev; do mount --rbind "/$folder" "$1/layer/root/$folder"; done
    mkdir -p "$1/layer/root$1"
    [ ! -e /etc/facter ] || cp -r /etc/facter "$1/layer/root/etc/"
    find "$1" -maxdepth 1 -type f -exec cp -t "$1/layer/root$1" {} +
    exec chroot "$1/layer/root" sh -eu "$1/inside.sh" "$1"
  SHELL

  # @param folder [String] the files in it are in the layer, too
  # @param script [String] of commands, whose `$1` is this folder
  # @return [String] their output
  def self.run(folder, script)
    File.write("#{folder}/inside.sh", script)
    Packages.run('unshare', '--mount', '--propagation', 'private', 'sh', '-eu', '-c', MOUNT, 'sh', folder)
  end
end

RSpec.describe 'The classes simpkv and simpkv::server, applied in a chroot' do
  # The gems get no dependencies here but ruby-progressbar, which the command needs: the service does not run in a
  # chroot, and would need a registry.
  data = lambda do |folder|
    { 'simpkv::group' => 'puppet', 'simpkv::gem_source' => "#{folder}/simpkv.gem",
      'simpkv::gem_install_options' => %w[--local --force],
      'simpkv::options' => { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x',
                                                            'root_path' => '/srv/kv' } } },
      'simpkv::server' => { 'bind' => ['unix:///run/simpkv/simpkv.sock'] },
      'simpkv::password_files' => { '/etc/simpkv/password' => 'pl4nted-password' },
      'simpkv::gems' => %w[operations estate access].to_h { |name| ["simpkv-#{name}", "#{folder}/#{name}.gem"] },
      'simpkv::server::gem_source' => "#{folder}/server.gem", 'simpkv::server::manage_service' => false }
  end

  script = <<~'SHELL'
    top=$1
    PATH=$PATH:/usr/local/bin
    rm -rf /etc/simpkv /etc/systemd/system/simpkv.service /usr/local/bin/simpkv
    gem install --local --no-document "$top/ruby-progressbar.gem" > /dev/null
    settings="--confdir $top/conf --vardir $top/var --hiera_config $top/hiera.yaml --color=false"
    puppet module install "$top/module.tar.gz" --ignore-dependencies --target-dir "$top/modules" $settings > /dev/null
    for run in --noop --no-noop --no-noop; do
      code=0
      puppet apply "$run" --modulepath "$top/modules" --reports store --show_diff --verbose --detailed-exitcodes $settings \
        --execute 'include simpkv include simpkv::server' >> "$top/log" 2>&1 || code=$?
      [ "$run" != --noop ] || [ ! -e /etc/simpkv ] || echo noop changed something
      echo "$run $code"
    done
    grep '^Error' "$top/log" | grep -v '^Error: Facter' || :
    stat -c '%n %U:%G %a' /etc/simpkv /etc/simpkv/* /etc/systemd/system/simpkv.service
    mkdir /srv/kv
    echo 'a value' | simpkv put app1/k --chomp -
    echo "$(simpkv get app1/k) in $(ls /srv/kv/environments/production/app1)"
    id -Gn simpkv
    grep -c pl4nted-password /etc/simpkv/password
    grep -rl pl4nted-password "$top/log" "$top/var" || echo no password elsewhere
  SHELL

  it 'installs and configures once, and keeps passwords from logs, reports and copies' do
    Dir.mktmpdir('simpkv-chroot') do |folder|
      FileUtils.cp(Packages.progressbar, "#{folder}/ruby-progressbar.gem")
      { Packages::MODULE => 'module.tar.gz', Packages::GEMS[:ruby] => 'simpkv.gem',
        **Packages::OTHERS.to_h { |name| [name, "#{name[/simpkv-(\w+)/, 1]}.gem"] } }
        .each { |name, copy| FileUtils.cp(Packages.file(name), "#{folder}/#{copy}") }
      File.write("#{folder}/site.yaml", data.call(folder).to_yaml)
      File.write("#{folder}/hiera.yaml", { 'version' => 5, 'hierarchy' => [{ 'name' => 'all', 'path' => 'site.yaml' }],
                                           'defaults' => { 'datadir' => folder, 'data_hash' => 'yaml_data' } }.to_yaml)
      output = Layer.run(folder, script).lines(chomp: true).grep_v(/\A(WARN|Please|\s)/)
      expect(output).to eq(['--noop 0', '--no-noop 2', '--no-noop 0', '/etc/simpkv root:root 755',
                            '/etc/simpkv/password root:puppet 640', '/etc/simpkv/simpkv.yaml root:puppet 640',
                            '/etc/systemd/system/simpkv.service root:root 644', 'a value in k', 'simpkv', '1',
                            'no password elsewhere'])
    end
  end
end
