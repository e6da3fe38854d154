# frozen_string_literal: true

require_relative 'command_helper'

RSpec.describe 'Colours of simpkv' do
  include_context 'with keys in files'

  # The name is hostile: somebody else chose it.
  before do
    store.put('environments/production/good', Simpkv::Codec.encode('x'))
    File.binwrite(File.join(root, "environments/production/\e[32mok"), '{"value":"x')
  end

  let(:no_colours) { satisfy('have no colours') { |text| !text.include?("\e") } }

  # @return [String] what the terminal shows
  def shown(*arguments, **environment)
    on_terminal(*arguments, environment: { 'TERM' => 'xterm', 'NO_COLOR' => nil }.merge(environment)).first
  end

  # What examples in the state of the site and of the backend begin with.
  { %w[doctor --read-only] => ["\e[32mok\e[0m       ", "\e[1;31mPROBLEM\e[0m  "],
    %w[status --parts expiring_keys] => ["\e[1;31mcritical\e[0m at ", "\e[1;31mcritical\e[0m  Keys"] }
    .each do |arguments, beginnings|
    describe "in #{arguments.first}" do
      let(:plain) { beginnings.map { |text| text.gsub(/\e\[[\d;]*m/, '') } }

      it 'mark the states on a terminal, and nothing that others have written' do
        lines = shown(*arguments).lines
        expect(beginnings).to all(satisfy { |text| lines.any? { |line| line.start_with?(text) } })
        expect(lines.join.gsub(/^\e\[(32|33|35|1;31)m[\w?]+\e\[0m/, '')).not_to include("\e")
        expect(lines.grep(/ok/).join).to include('\x1B[32mok')
      end

      it 'are absent with NO_COLOR, unless it is empty, and on a terminal without colours' do
        none = [shown(*arguments, 'NO_COLOR' => '1'), shown(*arguments, 'TERM' => 'dumb')]
        expect(none).to all(include(*plain).and(no_colours))
        expect(shown(*arguments, 'NO_COLOR' => '')).to include(*beginnings)
      end

      it 'are absent elsewhere, and in JSON and YAML' do
        expect(simpkv(*arguments, environment: { 'NO_COLOR' => nil }, process: true).out)
          .to include(*plain).and(no_colours)
        expect(%w[json yaml].map { |format| shown(*arguments, '-o', format) }).to all(no_colours)
      end
    end
  end
end
