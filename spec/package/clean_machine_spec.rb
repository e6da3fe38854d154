# frozen_string_literal: true

require 'open3'

# Five examples needed a folder in /opt that an earlier run of Puppet had made, and failed on a fresh machine.
RSpec.describe 'rakelib/clean_machine.sh, which runs each stage' do
  script = File.expand_path('../../rakelib/clean_machine.sh', __dir__)

  # @return [Array(String, Integer)] the output and the exit code
  def run(*command)
    output, status = Open3.capture2e(*command)
    [output, status.exitstatus]
  end

  it 'shows an empty /opt, and no settings, state or store of Puppet and simpkv' do
    with_leftovers = 'mount -t tmpfs opt /opt && mkdir /opt/puppetlabs && exec "$@"'
    show = 'find /opt -mindepth 1; find /var/lib/puppet /var/cache/puppet -type f; ls /etc/puppet
            ls -d /etc/puppetlabs /etc/simpkv /var/simp'
    expect(run('unshare', '--mount', 'sh', '-c', with_leftovers, 'sh', script, 'sh', '-c', "{ #{show}; } 2> /dev/null"))
      .to eq(["puppetserver\n", 2])
  end

  it 'leaves the fact augeas out, which took most of the processor time of Facter' do
    facts, = run(script, 'facter')
    expect(facts).to include('kernel => Linux')
    expect(facts).not_to include('augeas')
  end

  it 'discards what a stage leaves there, and returns its exit code' do
    left = "/var/left-by-simpkv-#{Process.pid}"
    expect(run(script, 'sh', '-c', "touch #{left} && ls #{left} && exit 7")).to eq(["#{left}\n", 7])
    expect(File.exist?(left)).to be(false)
  end
end
