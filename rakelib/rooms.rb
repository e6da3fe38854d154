# frozen_string_literal: true

require 'tsort'

# Checks who uses whom in the Ruby library, by the constants that its files define and name: a file uses only its own
# folder, or folders before it in FOLDERS, and only gems that its own uses; and no two files use each other, directly or
# through others. Needs MRI, whose parser it uses.
class Rooms
  include TSort

  # From the lowest; '.' has errors.rb and other files without a folder.
  FOLDERS = %w[. gems native document audit config store secrets backend adapter estate inspection query access status
               purging ssh resources termini server cli rspec].freeze

  # The gems, from the lowest, and the gems that each of them uses.
  GEMS = { 'simpkv' => [], 'simpkv-operations' => %w[simpkv], 'simpkv-rspec' => %w[simpkv],
           'simpkv-estate' => %w[simpkv], 'simpkv-access' => %w[simpkv simpkv-estate],
           'simpkv-server' => %w[simpkv simpkv-estate simpkv-access] }.freeze
  private_constant :GEMS

  # @param root [String] the folder of the project
  def initialize(root)
    @places = places(root)
    trees = @places.transform_values { |_, path| RubyVM::AbstractSyntaxTree.parse_file(File.join(root, path)) }
    @homes = Hash.new { |all, name| all[name] = [] }
    trees.each { |file, tree| define(tree, [], file) }
    @files = trees.keys
    @uses = trees.flat_map { |file, tree| uses(tree, []).uniq.map { |name| [file, name] } }
  end

  # @return [Array<String>] a sentence for each violation
  def violations
    cycles + climbs
  end

  # @return [Hash{String => Hash{String => Array<String>}}] the files of each room, by gem and room, from the lowest
  def by_gem
    @files.group_by { |file| gem_rank(file) }.sort.to_h do |rank, files|
      rooms = files.group_by { |file| rank(file) }.sort.to_h { |room, of_room| [FOLDERS[room], of_room] }
      [GEMS.keys[rank], rooms]
    end
  end

  # @param files [Array<String>] of a room
  # @return [Array<String>] the other rooms whose constants they name
  def rooms_used_by(files)
    homes = @uses.flat_map { |file, name| files.include?(file) ? [@homes[name]] : [] }
    rooms = homes.select(&:one?).flatten.map { |home| rank(home) }
    (rooms - [rank(files.first)]).uniq.sort.map { |room| FOLDERS[room] } - ['.']
  end

  # @param path [String] of any Ruby file, such as a spec
  # @return [Array<String>] the paths of the files of the library that it uses
  def used_by(path)
    uses(RubyVM::AbstractSyntaxTree.parse_file(path), []).uniq.flat_map { |name| openers(name) }.uniq.map { |file| path(file) }
  end

  # @param file [String] of a room
  # @return [String] its path in the project
  def path(file)
    @places.fetch(file).last
  end

  private

  # @return [Hash{String => Array(Integer, String)}] the files of the rooms, with the rank of their gem and their path
  def places(root)
    GEMS.keys.flat_map.with_index do |name, gem|
      place = File.join(*(['gems', name] unless gem.zero?), 'lib', 'simpkv')
      Dir['**/*.rb', base: File.join(root, place)].sort.map { |file| [file, [gem, File.join(place, file)]] }
    end.to_h
  end

  # @return [Array<String>] of several files that open a class or a module, the one that is named after it, such as
  #   `estate/node_list.rb` for Simpkv::Estate::NodeList; or those of the folder of that name
  def openers(name)
    homes = @homes[name]
    return homes if homes.length == 1

    words = name.split('::').drop(1).map { |word| word.gsub(/(?<=[a-z0-9])(?=[A-Z])/, '_').downcase }
    own = homes & ["#{words.join('/')}.rb"]
    own.any? ? own : homes.select { |home| words.any? && File.dirname(home) == words.join('/') }
  end

  def cycles
    groups = strongly_connected_components.select { |files| files.length > 1 }
    groups.map { |files| "These files use each other: #{files.sort.join(', ')}." }
  end

  def climbs
    { 'in a folder above its own' => method(:above?), 'of a gem that its own does not use' => method(:foreign?) }
      .flat_map do |what, climbs|
        found = @uses.select { |file, name| @homes[name].all? { |home| climbs[home, file] } }
        found.map { |file, name| "#{file} names #{name} of #{@homes[name].first}, #{what}." }
      end
  end

  def above?(home, file)
    rank(home) > rank(file)
  end

  def foreign?(home, file)
    own, other = [file, home].map { |each| GEMS.keys[gem_rank(each)] }
    own != other && !GEMS.fetch(own).include?(other)
  end

  def tsort_each_node(&block)
    @files.each(&block)
  end

  # A file may use the one of the class or module around it, as a nested class does: estate/facts.rb uses estate.rb.
  def tsort_each_child(file, &block)
    homes = @uses.select { |user, _| user == file }.map { |_, name| @homes[name] }
    others = homes.select { |files| files.length == 1 }.flatten.uniq
    others.reject { |other| other == file || file.start_with?(other.sub(/\.rb\z/, '/')) }.each(&block)
  end

  # The file store.rb belongs to the folder store.
  def rank(file)
    folder = file[%r{\A\w+(?=/)}] || (FOLDERS & [File.basename(file, '.rb')]).first || '.'
    FOLDERS.index(folder) || raise("FOLDERS in #{__FILE__} does not name the folder of #{file}")
  end

  # @return [Integer] 0 for the gem simpkv
  def gem_rank(file)
    @places.fetch(file).first
  end

  # Notes the constants that a file defines, by their full names.
  def define(node, nesting, file)
    opened = opened(node, nesting)
    name = opened || (full(node.children[0].to_s, nesting) if node.type == :CDECL)
    @homes[name] |= [file] if name
    nodes(node.children).each { |child| define(child, [*nesting, *opened], file) }
  end

  # @return [Array<String>] the full names of the constants of the library that a file names
  def uses(node, nesting)
    opened = opened(node, nesting)
    text = constant(node)
    return [*resolve(text, nesting)] if text

    nodes(opened ? node.children.drop(1) : node.children).flat_map { |child| uses(child, [*nesting, *opened]) }
  end

  # @return [String, nil] the full name of a constant of the library, or of the last one in a path that is known
  def resolve(text, nesting)
    until text.empty?
      names = nesting.length.downto(0).map { |depth| full(text, nesting.first(depth)) }
      found = names.find { |name| @homes.key?(name) }
      return found if found

      text = text.rpartition('::').first
    end
  end

  # @return [String, nil] the full name of the class or module that a node opens
  def opened(node, nesting)
    full(constant(node.children[0]), nesting) if %i[CLASS MODULE].include?(node.type)
  end

  def full(name, nesting)
    [*nesting.last, name].join('::')
  end

  # @return [String, nil] the text of a constant such as A::B
  def constant(node)
    case node.type
    when :CONST, :COLON3 then node.children[0].to_s
    when :COLON2
      above, name = node.children
      above ? constant(above)&.then { |text| "#{text}::#{name}" } : name.to_s
    end
  end

  def nodes(children)
    children.grep(RubyVM::AbstractSyntaxTree::Node)
  end
end
