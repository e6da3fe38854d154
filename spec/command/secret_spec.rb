# frozen_string_literal: true

require_relative 'command_helper'

RSpec.describe 'simpkv secret' do
  include_context 'with keys in files'

  it 'makes a secret at the first call, and prints it from then on' do
    made = simpkv!('secret', 'app1/db')
    expect(made).to match(/\A\w{24}\z/)
    expect(simpkv!('secret', 'app1/db')).to eq(made)
    expect(JSON.parse(simpkv!('secret', 'get', 'app1/db', '-o', 'json'))).to eq('key' => 'app1/db', 'secret' => made)
  end

  it 'prints a form, which is made once' do
    made = simpkv!('secret', '--format', 'sha512-crypt', '--cost', '1000', 'app1/db')
    expect(simpkv!('secret', 'app1/db').crypt(made)).to eq(made)
    expect(simpkv!('secret', 'app1/db', '--format', 'sha512-crypt', '--cost', '1000')).to eq(made)
  end

  it 'makes it as the options say' do
    expect(simpkv!('secret', 'app1/pin', '--alphabet', 'digits', '--length', '30')).to match(/\A\d{30}\z/)
    expect(simpkv!('secret', 'app1/words', '--words', '9', '--separator', ' ').split.length).to eq(9)
    expect(simpkv!('secret', 'app1/mixed', '--at-least', 'digits=3', '--at-least', 'upper=2'))
      .to match(/(?:\d.*){3}/).and match(/(?:[A-Z].*){2}/)
  end

  it 'says which option is wrong, and stores nothing' do
    expect(simpkv('secret', 'app1/db', '--length', '5'))
      .to have_attributes(code: 64, out: '', err: %r{'app1/db': .*minimum_bits})
    expect(simpkv('exists', 'app1/db').code).to eq(1)
  end

  it 'takes a misspelt command for no key' do
    expect(simpkv('secret', 'rotat', 'app1/db')).to have_attributes(code: 64, err: /did you mean 'rotate'/)
    expect(simpkv!('secret')).to include('rotate', 'list')
  end

  it 'replaces a secret by another one of its kind, and keeps the former one on request' do
    form = simpkv!('secret', 'app1/pin', '--alphabet', 'digits', '--length', '30', '--format', 'ssha')
    former = simpkv!('secret', 'app1/pin')
    expect(simpkv!('secret', 'rotate', 'app1/pin', '--history', '1')).to eq("'app1/pin' has another secret\n")
    expect(simpkv!('secret', 'app1/pin')).to match(/\A(?!#{former})\d{30}\z/)
    expect(simpkv!('get', 'app1/pin', '--version', '-1')).to eq(former)
    expect(simpkv!('secret', 'app1/pin', '--format', 'ssha')).not_to eq(form)
  end

  it 'says that a certificate is revoked if no other one can be made, and revokes one by its number' do
    simpkv!(*%w[secret ca --kind x509 --ca --subject CN=Site])
    simpkv!(*%w[secret web1 --kind x509 --subject CN=web1 --issuer ca])
    serial = simpkv!(*%w[secret web1 --part serial])
    simpkv!(*%w[secret rotate ca --days 100])
    expect(simpkv('secret', 'revoke', 'web1')).to have_attributes(code: 65, err: /the CA 'ca' was replaced since/)
    expect(simpkv!('secret', 'revoke', 'ca', '--serial', serial))
      .to eq("the certificate #{serial} of the CA 'ca' is revoked\n")
    simpkv!(*%w[secret rotate web1 --days 90])
    simpkv!(*%w[secret rotate ca --days 80])
    simpkv!(*%w[secret rotate web1 --days 70])
    expect(simpkv('secret', 'rotate', 'web1', '--days', '90'))
      .to have_attributes(code: 64, err: /'web1': option 'days'/)
  end

  it 'does not replace what something else has stored' do
    simpkv!('put', 'app1/db', 'by hand')
    expect(simpkv('secret', 'rotate', 'app1/db')).to have_attributes(code: 65, err: /simpkv put stores one/)
    expect(simpkv!('get', 'app1/db')).to eq('by hand')
  end

  it 'makes certificates that a CA of the store signs, revokes one, and prints the list' do
    simpkv!('secret', 'ca/site', '--kind', 'x509', '--ca', '--subject', 'CN=Site')
    web = %w[secret web1/tls --kind x509 --subject CN=web1.example.com --name 192.0.2.1 --issuer ca/site]
    simpkv!(*web)
    files = { 'ca' => %w[secret ca/site --part certificate], 'cert' => %w[secret web1/tls --part certificate],
              'crl' => %w[secret ca/site --part crl] }
    before = files.to_h { |name, words| [name, simpkv!(*words)] }
    expect(verified(before)).to match([/: OK$/, true])
    expect(simpkv!('secret', 'revoke', 'web1/tls'))
      .to match(%r{\Athe certificate \h+ of 'web1/tls' is revoked, and 'web1/tls' has another one$})
    expect(verified(before.merge('crl' => simpkv!(*files['crl'])))).to match([/certificate revoked/, false])
    expect(verified(files.to_h { |name, words| [name, simpkv!(*words)] })).to match([/: OK$/, true])
  end

  it 'stores a CA of other origin, which then signs and revokes' do
    run = ->(*words) { expect(Open3.capture2e('openssl', *words, chdir: folder).last).to be_success }
    run.call(*%w[req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=Old -days 999])
    run.call('genrsa', '-out', 'other.key', '2048')
    import = lambda do |key|
      simpkv('secret', 'import', 'ca/old', '--private', "#{folder}/#{key}", '--certificate', "#{folder}/ca.pem")
    end
    expect(import.call('other.key')).to have_attributes(code: 64, err: %r{'ca/old': .*private})
    expect(import.call('ca.key')).to have_attributes(code: 0, out: "'ca/old' has the certificate\n")
    expect(import.call('ca.key')).to have_attributes(code: 65, err: %r{'ca/old' exists})
    simpkv!(*%w[secret web1 --kind x509 --subject CN=web1.example.com --issuer ca/old])
    expect(verified('ca' => File.read("#{folder}/ca.pem"), 'cert' => simpkv!('secret', 'web1', '--part', 'certificate'),
                    'crl' => simpkv!('secret', 'ca/old', '--part', 'crl'))).to match([/: OK$/, true])
  end

  # @param texts [Hash{String => String}] of the CA, a certificate and a revocation list
  # @return [Array(String, Boolean)] what openssl says of the certificate
  def verified(texts)
    texts.each { |name, text| File.write(File.join(folder, name), text) }
    out, status = Open3.capture2e('openssl', 'verify', '-crl_check', '-CAfile', 'ca', '-CRLfile', 'crl', 'cert',
                                  chdir: folder)
    [out, status.success?]
  end

  it 'lists kinds, ages and formats, and no secret' do
    made = simpkv!('secret', 'app1/db', '--format', 'ssha')
    plain = simpkv!('secret', 'app1/db')
    simpkv!('secret', 'app2/token', '--kind', 'bytes', '--format', 'hex')
    simpkv!('put', 'app2/owner', 'me')
    said = simpkv!('secret', 'list')
    time = /\A\d{4}-\S+Z\z/
    expect(said.lines.map(&:split)).to match([%w[kind made forms key], ['password', time, 'ssha', 'app1/db'],
                                              ['bytes', time, '-', 'app2/token']])
    expect(said).not_to include(made, plain)
  end
end
