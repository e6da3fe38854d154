# frozen_string_literal: true

require 'simpkv/config'

RSpec.describe 'The options of access' do
  # The places that compare the servers of the options with those of the statistics compare text.
  it 'have one form of a URI, as those of a backend' do
    Cases.read('uris.tsv').each do |uri, normal, *|
      next if normal.start_with?('!')

      access = { 'users_dn' => 'o=x', 'roles_dn' => 'o=x', 'config_uri' => uri }
      expect(Simpkv::Config::Sections.convert({ 'access' => access }, 'access')).to include('config_uri' => normal)
    end
  end
end
