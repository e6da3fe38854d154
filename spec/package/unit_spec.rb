# frozen_string_literal: true

require 'open3'
require 'tmpdir'

# A systemd of its own starts examples/service/simpkv.service, with the sandbox that the unit has.
RSpec.describe 'The unit of the service', :long do
  checkout = File.expand_path('../..', __dir__)

  # What the unit and its user need, as docs/service.md says; and then the life of a service.
  script = <<~SH
    useradd --system simpkv
    groupadd --force --system puppet
    install --directory --owner simpkv --group puppet --mode 2770 /var/simp/simpkv
    install -D /work/simpkv.yaml /etc/simpkv/simpkv.yaml
    export SIMPKV_CONFIG=/etc/simpkv/simpkv.yaml
    runuser -u simpkv -- simpkv init
    install /srv/simpkv/examples/service/simpkv.service /etc/systemd/system/
    mkdir /etc/systemd/system/simpkv.service.d
    printf '[Service]\\nEnvironment=SIMPKV_CONFIG=/etc/simpkv/simpkv.yaml\\nStandardOutput=append:/work/service\\n%s\\n' \
      StandardError=append:/work/service \
      > /etc/systemd/system/simpkv.service.d/spec.conf
    systemctl daemon-reload
    ask() { curl --silent --show-error --unix-socket /run/simpkv/simpkv.sock "$@" --include -w '\\n'; }
    step() { echo "== $*"; "$@"; echo "== exit $?"; }
    step systemctl start simpkv
    step systemctl show simpkv -p ActiveState,User,Type
    step ask -X PUT -H 'content-type: application/json' -d '{"value":1}' http://localhost/v1/keys/a
    step systemctl reload simpkv
    systemctl kill -s USR2 simpkv
    until [ "$(grep -c 'serving on' /work/service)" = 2 ]; do sleep 0.1; done
    step ask http://localhost/v1/keys/a
    step systemctl show simpkv -p ActiveState,NRestarts
    step systemctl stop simpkv
    step systemctl show simpkv -p ActiveState,Result
    step systemd-analyze security simpkv --no-pager --threshold=20 # Of 100, for its sandbox.
  SH

  it 'starts it as its own user, tells when it is ready, reads rights again, starts it anew, and stops it' do
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, 'script'), script)
      File.write(File.join(folder, 'simpkv.yaml'), <<~YAML)
        backends:
          default: {type: file, id: unit, root_path: /var/simp/simpkv/unit}
      YAML
      out, status = Open3.capture2e(File.join(checkout, 'spec/support/systemd.sh'), folder, checkout, Gem.dir)
      log = File.join(folder, 'log')
      raise "systemd has not run: #{out}" unless status.success? && File.exist?(log)

      steps = File.read(log).scan(/^== .*?\n(.*?)^== exit (\d+)$/m)
      expect(steps.map(&:last)).to all(eq('0')), File.read(log)
      expect(steps.map(&:first)).to match(
        ['', include('ActiveState=active', 'User=simpkv', 'Type=notify'), include('HTTP/1.1 201'), '',
         include('HTTP/1.1 200', '"value":1'), include('ActiveState=active', 'NRestarts=0'), '',
         include('ActiveState=inactive', 'Result=success'), include('OK')]
      )
      expect(File.read(File.join(folder, 'service'))).to include('the rights and the certificates were read again')
    end
  end
end
