# frozen_string_literal: true

require 'simpkv/server'

# The console was one class with 249 methods, and the API one with 118.
RSpec.describe 'The applications of the service, and the pages of the console' do
  # The most methods that an application has beside those of Roda, and a page beside those of Page.
  let(:most) { 40 }

  # @param base [Class]
  # @return [Hash{String => Integer}] for each class below it, the number of methods that it does not have from there
  def methods_beside(base)
    kinds = ObjectSpace.each_object(base.singleton_class).select { |kind| kind.name.to_s.start_with?('Simpkv::') }
    kinds.to_h do |kind|
      names = (kind.instance_methods + kind.private_instance_methods).grep_v(/\A_roda/)
      [kind.name, (names - base.instance_methods - base.private_instance_methods).length]
    end
  end

  it 'are small' do
    page = Simpkv::Server::Console::Page
    counts = [Roda, page].map { |base| methods_beside(base) }
    expect(counts).to match([include('Simpkv::Server::Api::Keys', 'Simpkv::Server::Console::Keys'),
                             include(page.name, 'Simpkv::Server::Console::Keys::KeyPage')])
    expect(counts.reduce(:merge).select { |_, count| count > most }).to eq({})
    expect(methods_beside(Object).fetch(page.name)).to be <= most
  end
end
