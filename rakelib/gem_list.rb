# frozen_string_literal: true

# The content of lib/simpkv/gems.txt: what the gems above simpkv add to those below them (docs/adr/0103).
module GemList
  ROOT = File.expand_path('..', __dir__)

  # The kinds of things, each a folder below `simpkv`.
  KINDS = %w[cli/commands cli/commands/** cli/doctor/* cli/owners config/sections status/parts termini/sessions].freeze

  # Files that the module asks for by name.
  SINGLE = %w[access/declarations resources/access_catalog termini/estate_query termini/node_query].freeze
  private_constant :ROOT, :KINDS, :SINGLE

  # @return [String] a line with the gem, the kind and the name of each
  def self.text
    Dir["#{ROOT}/gems/*"].sort.flat_map { |folder| lines(folder) }.join
  end

  def self.lines(folder)
    found = Dir["{#{KINDS.join(',')}}/*.rb", "{#{SINGLE.join(',')}}.rb", base: File.join(folder, 'lib', 'simpkv')]
    found.uniq.sort.map { |file| "#{File.basename(folder)} #{File.dirname(file)} #{File.basename(file, '.rb')}\n" }
  end
  private_class_method :lines
end
