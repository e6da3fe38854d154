# frozen_string_literal: true

describe 'webapp', type: :class do
  let(:node) { 'web1.example.com' }
  let(:facts) { { 'networking' => { 'ip' => '192.0.2.11' } } }

  it { is_expected.to compile.with_all_deps }

  it 'generates a password for all environments, and stores it as Sensitive' do
    is_expected.to have_stored('webapp/db_password', global: true)
      .with_value(sensitive(/\A\h{48}\z/)).with_metadata('owner' => 'webapp')
    is_expected.not_to have_stored('webapp/db_password')
  end

  it { is_expected.to have_stored('webapp/nodes/web1.example.com').with_value('192.0.2.11') }
  it { is_expected.to contain_file('/etc/webapp/nodes').with_content("192.0.2.11 web1.example.com\n") }
  it { is_expected.to contain_file('/etc/webapp/greeting').with_content('Welcome') }

  context 'with keys of other nodes and operators' do
    before do
      simpkv_with({ 'webapp/db_password' => sensitive('correct horse') }, global: true)
      simpkv_with('webapp/nodes/' => { 'web2.example.com' => '192.0.2.12' }, 'hiera/webapp::greeting' => 'Hello')
    end

    it { is_expected.to contain_file('/etc/webapp/password').with_content(sensitive('correct horse')) }
    it { is_expected.to contain_file('/etc/webapp/greeting').with_content('Hello') }

    it 'tells this node of the others' do
      is_expected.to contain_file('/etc/webapp/nodes')
        .with_content("192.0.2.11 web1.example.com\n192.0.2.12 web2.example.com\n")
    end
  end
end
