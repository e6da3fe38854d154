# frozen_string_literal: true

require 'simpkv/errors'

module Simpkv
  # Refuses a store inside another one: its keys would be keys of the outer store, in any environment.
  #
  # A store in files is a folder with the folders `globals` and `environments`; one in a directory is an entry with
  # `ou=globals` and `ou=environments`, below `ou=instances` of its base entry.
  module Isolation
    FOLDERS = %w[globals environments].freeze
    # The names and the number of the attribute type ou, in lower case.
    OU = %w[ou organizationalunitname 2.5.4.11 oid.2.5.4.11].freeze
    RDN = /(?:\\.|"(?:\\.|[^"\\])*"|[^,;\\"])+/m.freeze
    private_constant :FOLDERS, :OU, :RDN

    # Checks where a store would be.
    #
    # @param type [String] `file` or `ldap`; other types have no rules
    # @param settings [Hash{String => Object}] the options of the backend or store
    # @return [String, nil] why it may not be there; nil if it may
    def self.problem(type, settings)
      case type
      when 'file' then root_problem(settings['root_path']) if absolute?(settings['root_path'])
      when 'ldap' then base_problem(*settings.values_at('base_dn', 'id', 'layout').map(&:to_s))
      end
    end

    # Checks the root folders of backends against each other.
    #
    # @param backend [Hash] the options of one
    # @param others [Array<Hash>] those of others
    # @return [String, nil] why the first may not be beside the others; nil if it may
    def self.clash(backend, others)
      roots(backend).product(others.flat_map { |other| roots(other) }).each do |root, other|
        return nested(root, other) if inside?(root, other)
        return nested(other, root) if inside?(other, root)
      end
      nil
    end

    # Ignores case, runs of spaces, compatibility forms and invisible characters, as a directory does.
    #
    # @param value [String] of an RDN
    # @return [String] the same for two values that a directory takes for one
    def self.folded(value)
      # The tables of Unicode load for as long as all of simpkv.
      value = value.scrub.unicode_normalize(:nfkc).gsub(/\p{Cf}/, '') unless value.ascii_only?
      value.downcase.split.join(' ')
    end

    class << self
      # Resolves symbolic links.
      #
      # @param path [String] an absolute path, whose end may not exist yet
      # @return [String]
      def canonical(path)
        File.realpath(path)
      rescue SystemCallError
        above, name = File.split(path)
        above == path ? path : resolved(path, canonical(above), name)
      end

      private

      # @return [Array<String>] the places where the store of a file backend may be
      def roots(backend)
        return [] unless backend['type'] == 'file'

        root, id = backend.values_at('root_path', 'id')
        paths = root.nil? ? default_places.map { |place| "#{place}/#{id}" } : [root]
        paths.select { |path| absolute?(path) }.map { |path| canonical(path) }
      end

      # Coercion refuses other paths.
      def absolute?(path)
        path.is_a?(String) && path.start_with?('/') && !path.include?("\0")
      end

      # @return [Array<String>] the folders of the stores without a configured root folder
      def default_places
        tops = ['/var']
        tops << Puppet[:vardir] if defined?(Puppet::Settings) && Puppet.settings.app_defaults_initialized?
        tops.map { |top| canonical("#{top}/simp/simpkv/file") }
      end

      def root_problem(root)
        root = canonical(root)
        outer = outer_stores(root).first || default_root_around(root)
        return nested(root, outer) if outer

        inner = default_stores_below(root).first || store_among_keys(root)
        nested(inner, root) if inner
      rescue SystemCallError => e
        "the root folder '#{root}' is no store yet, and cannot be searched for other stores: #{e.message}"
      end

      def nested(inner, outer)
        "the root folder '#{inner}' is inside that of another store, '#{outer}', which would have its keys among its " \
          "own: choose a 'root_path' outside of it"
      end

      def inside?(inner, outer)
        inner != outer && inner.start_with?("#{outer.chomp('/')}/")
      end

      def resolved(path, above, name)
        target = { '.' => above, '..' => File.dirname(above) }.fetch(name) { File.join(above, name) }
        target == path ? path : canonical(target)
      end

      # @return [Array<String>] the existing stores around a folder
      def outer_stores(root)
        names = root.split('/')
        FOLDERS.flat_map { |folder| names.each_index.select { |index| names[index] == folder } }.sort
               .map { |index| "#{names[0...index].join('/')}/".chomp('/') }.select { |folder| store?(folder) }
      end

      def store?(folder)
        FOLDERS.all? { |name| File.directory?("#{folder}/#{name}") }
      end

      # @return [String, nil] the default root folder that a path is below, existing or not
      def default_root_around(root)
        default_places.each do |place|
          next unless inside?(root, place)

          id = root.delete_prefix("#{place}/").split('/').first
          return "#{place}/#{id}" if inside?(root, "#{place}/#{id}")
        end
        nil
      end

      # @return [Array<String>] the existing stores in default root folders below a path
      def default_stores_below(root)
        places = default_places.select { |place| place == root || inside?(place, root) }
        paths = places.flat_map { |place| folders_in(place) } - FOLDERS.map { |name| "#{root}/#{name}" }
        paths.select { |folder| store?(folder) }
      end

      # Searches a folder that is no store yet: whoever makes a store below one that exists is refused.
      #
      # @return [String, nil] a store that exists where the new one would have its keys
      # @raise [SystemCallError] a folder cannot be read
      def store_among_keys(root)
        return if store?(root)

        pending = FOLDERS.map { |name| "#{root}/#{name}" }.select { |folder| File.directory?(folder) }
        until pending.empty?
          folder = pending.pop
          return folder if store?(folder)

          pending.concat(folders_below(folder))
        end
      end

      # @return [Array<String>] without those behind links: a link cannot lead out of a store; none if the folder is
      #   gone meanwhile
      def folders_below(folder)
        Dir.children(folder).map { |name| "#{folder}/#{name}" }
           .select { |path| File.directory?(path) && !File.symlink?(path) }
      rescue Errno::ENOENT, Errno::ENOTDIR
        []
      end

      def folders_in(place)
        Dir.children(place).sort.map { |name| "#{place}/#{name}" }
      rescue SystemCallError
        []
      end

      # A store at `<id>,ou=instances,<base_dn>` is inside another one if its DN continues with the outer store's
      # folders.
      def base_problem(base_dn, id, layout)
        names = [(id if layout != 'hex'), 'instances', *base_dn.scrub.scan(RDN).map { |rdn| unit(rdn) }]
        inside = names.each_index.any? { |index| FOLDERS.include?(names[index]) && names[index + 2] == 'instances' }
        return unless inside

        "the base DN '#{base_dn}' is inside the tree of another store, which would have its keys among its own: " \
          "choose a 'base_dn' that is not below 'ou=globals' or 'ou=environments' of an instance"
      end

      # @return [String, nil] the value of an RDN of type ou, as a directory compares it; nil for another type
      def unit(rdn)
        type, value = rdn.split('=', 2)
        return if value.nil? || !OU.include?(type.strip.downcase)

        folded(plain(value.strip))
      end

      def plain(value)
        return [value[1..]].pack('H*')[2..].to_s.dup.force_encoding(Encoding::UTF_8) if value.start_with?('#')

        value = value[1..-2] if value.match?(/\A".*"\z/m)
        value.b.gsub(/\\(\h\h)|\\(.)/mn) { $1 ? $1.hex.chr : $2 }.force_encoding(Encoding::UTF_8) # rubocop:disable Style/PerlBackrefs
      end
    end
  end
end
