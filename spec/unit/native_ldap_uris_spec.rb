# frozen_string_literal: true

require 'simpkv/config'

# The places that compare the servers of the options with those of the statistics compare text.
RSpec.describe 'URIs of directory servers' do
  def settings(more)
    Simpkv::Config.typed({ 'type' => 'ldap', 'id' => 'x' }.merge(more), 'b')
  end

  Cases.read('uris.tsv').each do |uri, normal, *|
    if normal.start_with?('!')
      it "are malformed: #{uri.inspect}" do
        expect { Simpkv::Native.ldap_uris(uri) }
          .to raise_error(Simpkv::InvalidError, /\AInvalid 'ldap_uri' configuration: .*#{normal.delete('!')}/)
        expect(settings('ldap_uri' => uri)['ldap_uri']).to eq(uri)
      end
    else
      it "have one form: #{uri.inspect} is #{normal.inspect}" do
        expect(Simpkv::Native.ldap_uris(uri)).to eq(normal).and have_attributes(encoding: Encoding::UTF_8)
        expect(settings('ldap_uri' => uri, 'write_uri' => [uri]))
          .to include('ldap_uri' => normal, 'write_uri' => normal)
      end
    end
  end

  # A server without a port was never found in the statistics, and its certificate expired without an alert.
  it 'are in the options as in the statistics, in the forms of the documentation' do
    pages = Dir[File.expand_path('../../{README.md,docs/*.md}', __dir__)]
    uris = pages.flat_map { |file| File.read(file).scan(%r{\bldaps?://[\w.-]+\.example\.com\b(?::\d+)?}) }.uniq
    expect(uris).to include('ldaps://ldap1.example.com', 'ldaps://ldap2.example.com')
    uris.each do |uri|
      options = settings('ldap_uri' => uri)
      store = Simpkv::Store.open('ldap', options.slice('id', 'ldap_uri', 'base_dn', 'admin_dn')
                                                .merge('admin_pw_file' => __FILE__, 'tls_cacert' => __FILE__))
      known = Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.map { |server| server['uri'] }
      expect(known).to include(options['ldap_uri'])
    ensure
      store&.close
    end
  end

  it 'name each server once' do
    uris = %w[ldaps://ldap1.example.com LDAPS://LDAP1.example.com:636/ ldaps://ldap2.example.com]
    expect(settings('ldap_uri' => uris))
      .to include('ldap_uri' => 'ldaps://ldap1.example.com:636 ldaps://ldap2.example.com:636')
  end
end
