# frozen_string_literal: true

require_relative 'rooms'

# Finds the specs of a file. The distance of a spec from a file is smaller, the more words of the path of the file the
# path of the spec has.
class ChangedRuby
  # The folders of specs for a room that has none of its own name. The first room that a path names counts.
  HOMES = { 'lib/simpkv/server/console' => %w[console], 'lib/simpkv/server' => %w[server],
            'lib/simpkv/cli' => %w[command], 'exe' => %w[command], 'lib/simpkv/query' => %w[query],
            'lib/simpkv/access' => %w[access], 'lib/simpkv/inspection' => %w[estate command],
            'lib/simpkv/estate' => %w[estate command], 'lib/simpkv/termini' => %w[estate],
            'lib/simpkv/status' => %w[command server], 'lib/simpkv/ssh' => %w[command types],
            'lib/simpkv/purging' => %w[types], 'lib/simpkv/resources' => %w[types],
            'lib/simpkv/rspec' => %w[functions], 'lib/simpkv/adapter' => %w[functions conformance integration],
            'lib/simpkv/backend' => %w[functions conformance integration], 'lib/simpkv' => %w[functions conformance],
            'lib/puppet/functions' => %w[functions conformance], 'lib/puppet/type' => %w[types],
            'lib/puppet/provider' => %w[types], 'lib/puppet/' => %w[estate], 'lib/puppet_x' => %w[functions types],
            'ext/simpkv' => %w[unit], 'ext/core' => %w[integration], 'schema' => %w[integration access],
            'manifests' => %w[classes types], 'types' => %w[classes], 'data' => %w[classes], 'templates' => %w[classes],
            'hiera.yaml' => %w[classes], 'tasks' => %w[bolt], 'files' => %w[bolt], 'plans' => %w[bolt],
            'packaging' => %w[distribution], 'bench' => %w[unit],
            'docs/schemas' => %w[command], 'examples/console' => %w[console] }.freeze

  # The specs of these folders install much or take long, and so do those that need these programs: at this distance,
  # such a spec counts only for a file at home in such a folder, or if there is no other spec.
  HEAVY = %w[availability bolt clients console distribution fresh load package puppetdb puppetserver].freeze
  HEAVY_NEEDS = %w[clients formats puppetserver].freeze
  HEAVY_FROM = 0.5

  # Files of the library.
  LIBRARY = %r{\A(?:gems/[\w-]+/)?lib/}.freeze

  # Words that tell nothing.
  COMMON = %w[gem lib simpkv ext core src spec rb rakelib].freeze

  # The names of rooms in the names of specs.
  WORDS = { 'cli' => 'command', 'termini' => 'estate', 'resource' => 'type', 'bin' => 'command' }.freeze
  # What bin/setup installs for the specs of a folder, beside what `bin/setup test` installs.
  FOLDERS = { 'server' => 'service', 'query' => 'service', 'console' => 'browser', 'puppetdb' => 'puppetdb',
              'puppetserver' => 'puppetserver', 'bolt' => 'all', 'clients' => 'all', 'distribution' => 'all',
              'fresh' => 'all', 'package' => 'all' }.freeze

  # The same for the specs whose text, or that of their helpers, names a program or the helper that starts it.
  PROGRAMS = { 'browser' => %r{(?:support/|_relative ')browser'}, 'service' => %r{(?:support/|_relative ')service'},
               'puppetdb' => /_relative 'postgresql'/, 'puppetserver' => %r{/puppet_server'|/usr/bin/puppet\b},
               'formats' => %r{/mariadb'}, 'clients' => /promtool|ansible/,
               'sshd' => %r{/sshd'|sshkeys_core|setfacl} }.freeze
  private_constant :HOMES, :HEAVY, :HEAVY_NEEDS, :HEAVY_FROM, :LIBRARY, :COMMON, :WORDS, :FOLDERS, :PROGRAMS

  def initialize
    @rooms = Rooms.new('.')
    @specs = Dir['{,gems/*/}spec/*/*_spec.rb'].sort
    @uses = {}
    @texts = {}
  end

  # @return [String] the folder of a spec below `spec`
  def folder(spec)
    spec[%r{\bspec/(\w+)/}, 1]
  end

  # @param spec [String]
  # @return [Float] which part of the lines of all specs in its folder it has
  def share(spec)
    @shares ||= @specs.group_by { |each| folder(each) }.values.reduce({}) do |shares, specs|
      lines = specs.to_h { |each| [each, File.foreach(each).count] }
      shares.merge(lines.transform_values { |count| count / lines.values.sum.to_f })
    end
    @shares.fetch(spec)
  end

  # @param specs [Array<String>]
  # @return [Array<String>] what bin/setup installs for them, beside what `bin/setup test` installs
  def needs(specs)
    needed = specs.flat_map do |spec|
      text = [spec, *closure(spec)].map { |path| text(path) }.join
      [FOLDERS[folder(spec)], *PROGRAMS.keys.select { |name| text.match?(PROGRAMS[name]) }]
    end
    needed.compact.uniq
  end

  # @param file [String] that has changed
  # @param bound [Array<String>] files that stand for it: those of the binding that call it
  # @return [Hash{String => Float}] by spec: 0 for the file itself and for a spec that is named after it, up to 1 for
  #   one that uses or names it, up to 1.5 for one of its room, up to 2 for one of a user of it
  def distances(file, bound = [])
    return { file => 0.0 } if @specs.include?(file)

    near = nearest([using(file, 1.0), mentioning(file), at_home(file), *of_users(file, bound)])
    near = near.to_h { |spec, base| [spec, base - (shared(spec, file) / 2.0)] }.merge(named(file))
    light = near.select { |spec, distance| distance < HEAVY_FROM || !heavy?(spec, file) }
    light.empty? ? near : light
  end

  private

  def heavy?(spec, file)
    @heavy ||= @specs.to_h { |each| [each, (needs([each]) & HEAVY_NEEDS).any?] }
    (HEAVY - home(file)).include?(folder(spec)) || @heavy[spec]
  end

  # @return [Array<Hash{String => Float}>] the specs of the files that use a file, or that are bound to it
  def of_users(file, bound)
    users = bound + [file, *bound].flat_map { |path| users(path) }
    users.uniq.flat_map do |user|
      [using(user, 2.0), *[named(user), mentioning(user)].map { |specs| specs.transform_values { 1.5 } }]
    end
  end

  def nearest(found)
    found.reduce { |all, some| all.merge(some) { |_, *two| two.min } }
  end

  # unit/estate_facts_spec.rb and estate/facts_spec.rb are named after simpkv/estate/facts.rb of their gem.
  def named(file)
    own = words(file.sub(/\.\w+\z/, ''))
    return {} if own.empty?

    found = @specs.select do |spec|
      words(spec.sub(/_spec\.rb\z/, '').sub(%r{(?:\Agems/[\w-]+/)?spec/(?:unit/)?}, '')).first(own.length) == own
    end
    found.to_h { |spec| [spec, 0.0] }
  end

  # @return [Hash{String => Float}] the specs that use a file: those that name its constants or require it; a little
  #   farther away, those whose helpers do
  def using(file, base)
    @using ||= invert(@specs) { |spec| closure(spec).flat_map { |helper| [helper, *uses(helper)] } | uses(spec) }
    specs = @using.fetch(file, [])
    specs.to_h { |spec| [spec, uses(spec).include?(file) ? base : base + 0.3] }
  end

  # @yieldparam user [String]
  # @yieldreturn [Array<String>] the files that it uses
  # @return [Hash{String => Array<String>}] the users of each file
  def invert(users)
    users.flat_map { |user| yield(user).map { |file| [file, user] } }
         .group_by(&:first).transform_values { |pairs| pairs.map(&:last) }
  end

  # @return [Hash{String => Float}] the specs whose text names a file: a function, a resource type, or a path
  def mentioning(file)
    sign = sign(file)
    return {} unless sign

    namers = Dir['{,gems/*/}spec/**/*.rb'].select { |path| text(path).match?(sign) }
    @specs.select { |spec| ([spec, *closure(spec)] & namers).any? }.to_h { |spec| [spec, 1.0] }
  end

  # @return [Regexp, nil]
  def sign(file)
    case file
    when %r{\Alib/puppet/functions/(simpkv/\w+)} then /\b#{Regexp.last_match(1).gsub('/', '::')}\b/
    when %r{\Alib/puppet/(?:type|provider)/(\w+)} then /\b#{Regexp.last_match(1)}\b/
    when %r{lib/simpkv/cli/commands/([\w/]+)\.rb}
      /\bsimpkv\W+#{Regexp.last_match(1).tr('_', '-').split('/').join('\W+')}\b/
    when LIBRARY, %r{\Aext/core/(?:src|test)/} then nil
    else Regexp.union(File.basename(file), file.sub(/\.\w+\z/, '').split('/').last(2).join('/'))
    end
  end

  # @return [Hash{String => Float}] the specs of the room of a file: those of its gem first, then those in the folder
  #   that has the name of its gem
  def at_home(file)
    return {} if file.end_with?('.md') || file.start_with?('spec/planted/')

    folders = home(file)
    folders = %w[package] if folders.empty?
    @specs.to_h { |spec| [spec, distance_at_home(spec, file, folders)] }.compact
  end

  def distance_at_home(spec, file, folders)
    of_room = folders.include?(folder(spec)) || of_room?(spec, words(file).first)
    return (1.7 if of_room) unless gem(spec) == gem(file)
    return 1.5 if of_room

    1.6 if folder(spec) == gem(file)
  end

  # @return [Array<String>] the folders of specs in which a file is at home
  def home(file)
    own = file[%r{\A(?:gems/[\w-]+/)?spec/(?!support/|planted/)(\w+)/}, 1]
    return [own] if own

    HOMES.find { |place, _| file.sub(%r{\Agems/[\w-]+/}, '').start_with?(place) }&.last || []
  end

  # @return [String, nil] the last word of the name of a gem, which one of its folders of specs has; nil for the gem
  #   simpkv
  def gem(path)
    path[%r{\Agems/simpkv-(\w+)/}, 1]
  end

  def of_room?(spec, room)
    folder(spec) == 'unit' && words(spec).include?(room)
  end

  # @return [Array<String>] the files of lib that use a file, by the graph of the rooms
  def users(file)
    return [] unless file.match?(LIBRARY)

    @users ||= invert(Dir['{lib,gems/*/lib}/**/*.rb'].sort) { |user| uses(user) - [user] }
    @users.fetch(file, [])
  end

  # @return [Array<String>] the files whose constants a Ruby file names, those that it asks the gems for, and those that
  #   a spec requires
  def uses(path)
    @uses[path] ||= @rooms.used_by(path) | demanded(path) | required(path)
  end

  def demanded(path)
    things = text(path).scan(%r{\bGems\.demand\('([\w/]+)', '(\w+)'})
    things.flat_map { |kind, name| Dir["{lib,gems/*/lib}/simpkv/#{kind}/#{name}.rb"] }
  end

  # In the library, everything requires everything above it.
  def required(path)
    return [] if path.match?(LIBRARY)

    text(path).scan(/^ *(require(?:_relative)?) '([^']+)'/).map do |how, name|
      name = "#{name.delete_suffix('.rb')}.rb"
      next Dir["{lib,gems/*/lib}/#{name}"].first || name if how == 'require'

      File.expand_path(name, File.dirname(path)).delete_prefix("#{Dir.pwd}/")
    end
  end

  # @return [Array<String>] the helpers of a spec, but for spec_helper.rb, which all have
  def closure(spec)
    @closures ||= {}
    @closures[spec] ||= begin
      found = []
      todo = required(spec)
      while (path = todo.shift)
        next unless path.match?(%r{\A(?:gems/[\w-]+/)?spec/}) && !found.include?(path) && File.file?(path)

        found << path
        todo.concat(required(path))
      end
      found - %w[spec/spec_helper.rb]
    end
  end

  # @return [Float] which part of the words of a path a spec has in its own, and in its text the last one
  def shared(spec, file)
    own = words(file)
    own.empty? ? 0.0 : (own & words(spec)).length / own.length.to_f
  end

  def words(path)
    @words ||= {}
    @words[path] ||= path.downcase.sub(%r{\Agems/[\w-]+/}, '').split(%r{[/_.-]}).map { |word| word.delete_suffix('s') }
                         .map { |word| WORDS.fetch(word, word) }.uniq - COMMON
  end

  def text(path)
    @texts[path] ||= File.read(path, encoding: 'UTF-8').scrub
  end
end
