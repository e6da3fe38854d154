# frozen_string_literal: true

require 'simpkv/server'

# The console was one class with 249 methods, and the API one with 118.
RSpec.describe 'The applications of the service, and the pages of the console' do
  # The most methods that an application has beside those of Roda, and a page beside those of Page.
  let(:most) { 40 }

  # @return [Array<Class>] those of the library below a class
  def below(base)
    ObjectSpace.each_object(base.singleton_class).select { |kind| kind.name.to_s.start_with?('Simpkv::') } - [base]
  end

  # @return [Integer] the number of methods that a class does not have from one above it
  def methods_beside(base, kind)
    names = (kind.instance_methods + kind.private_instance_methods).grep_v(/\A_roda/)
    (names - base.instance_methods - base.private_instance_methods).length
  end

  it 'are small' do
    page = Simpkv::Server::Console::Page
    counts = [Roda, page].to_h { |base| [base, below(base).to_h { |kind| [kind.name, methods_beside(base, kind)] }] }
    expect(counts).to match(Roda => include('Simpkv::Server::Api::Keys', 'Simpkv::Server::Console::Keys'),
                            page => include('Simpkv::Server::Console::Keys::KeyPage'))
    counts[Object] = { page.name => methods_beside(Object, page) }
    expect(counts.values.reduce(:merge).select { |_, count| count > most }).to eq({})
  end
end
