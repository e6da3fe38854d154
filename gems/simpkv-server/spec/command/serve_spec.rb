# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

RSpec.describe 'simpkv serve' do
  include_context 'with keys in files'

  # It said that simpkv-server, the gem that says so, was missing.
  it 'names the file that cannot be loaded, and how to install the gems that the service needs' do
    # A folder in which a gem of the service is missing.
    hidden = File.join(folder, 'puma.rb').tap { |file| File.write(file, "raise LoadError, 'no puma'") }
    outcome = simpkv('serve', environment: { 'RUBYLIB' => File.dirname(hidden) })
    remedy = "Install the gem simpkv-server with the gems that it needs: #{Simpkv::Gems.command} install simpkv-server "
    expect([outcome.code, outcome.err])
      .to match([78, start_with("simpkv: simpkv serve cannot be used: no puma. #{remedy}")])
  end
end
