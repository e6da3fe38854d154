# frozen_string_literal: true

require 'monitor'
require 'simpkv/errors'
require 'simpkv/version'

module Simpkv
  # The gems of simpkv, all of one version. A gem adds something to those below it by being there: each thing is a file
  # in the folder of its kind, in any of the gems. `simpkv/cli/commands/node/show.rb` is a command, and
  # `simpkv/config/sections/estate.rb` a section of options. The path of a file is the name of the constant that it
  # defines. So no code names a gem above its own.
  #
  # The file gems.txt names what each other gem adds: a line with the gem, the kind and the name. So a message can say
  # which gem is missing. `rake docs` writes it (docs/adr/0103).
  module Gems
    # A gem is not installed, or has another version.
    class MissingError < ConfigError; end

    OWN = File.expand_path('..', __dir__)
    LIST = File.join(__dir__, 'gems.txt')
    # Several threads of a puppetserver may look for a gem; a gem that is required calls {add}.
    LOCK = Monitor.new
    NAME = 'simpkv'
    private_constant :OWN, :LIST, :LOCK, :NAME

    @others = {}

    class << self
      # Called by `simpkv/gems/*.rb`, the file by which a gem is found.
      #
      # @param name [String] of the gem
      # @param version [String]
      # @param folder [String] its folder of code
      # @return [void]
      # @raise [MissingError] the version is another one than {VERSION}
      def add(name, version, folder)
        if version != VERSION
          raise MissingError, "the gem #{name} has the version #{version}, and simpkv has #{VERSION}: install " \
                              "#{name} #{VERSION}"
        end
        LOCK.synchronize { @others = others.merge(name => folder) }
      end

      # @param kind [String] a folder below `simpkv`: `cli/commands`
      # @param name [String] of a file in it, without `.rb`
      # @return [Module, nil] the constant that it defines; nil if no gem that is there has such a file
      # @raise [MissingError] a gem has another version
      def find(kind, name)
        place = [OWN, *others.values].find { |folder| file?(folder, kind, name) } || folder(listed(kind, name))
        load(File.join(place, 'simpkv', kind, "#{name}.rb"), "#{kind}/#{name}") if place
      end

      # @param kind [String]
      # @param name [String]
      # @param what [String] names it in the message
      # @return [Module] see {find}
      # @raise [MissingError] the gem that has it is not there, or it cannot be loaded
      def demand(kind, name, what)
        load_for(what, listed(kind, name)) { find(kind, name) } ||
          raise(missing(what, owner(kind, name) || raise(NameError, "no gem has #{kind}/#{name}")))
      end

      # @param what [String] what needs the files
      # @param gem [String, nil] whose installation brings them; nil for simpkv itself
      # @yield loads them
      # @return [Object] what the block returns
      # @raise [MissingError] a file cannot be loaded; says which, and how to install it
      def load_for(what, gem)
        yield
      rescue LoadError => e
        raise MissingError, "#{what} cannot be used: #{e.message.split("\n").join('; ')}. Install the gem " \
                            "#{gem || NAME} with the gems that it needs: #{installation(gem || NAME)}", cause: nil
      end

      # @param kind [String]
      # @return [Array<String>] the names of all that is there
      # @raise [MissingError] a gem has another version
      def names(kind)
        files(kind).keys
      end

      # @param kind [String]
      # @return [Hash{String => String}] the files of all that is there, by name
      # @raise [MissingError] a gem has another version
      def files(kind)
        list.select { |_, other, _| other == kind }.map(&:first).uniq.each { |gem| folder(gem) }
        [*others.values.reverse, OWN].map { |folder| files_in(folder, kind) }.inject(:merge).sort.to_h
      end

      # @param kind [String]
      # @return [Hash{String => Module}] all that is there, by name
      # @raise [MissingError] a gem has another version
      def all(kind)
        names(kind).to_h { |name| [name, find(kind, name)] }
      end

      # @param kind [String]
      # @return [Array<String>] the names of all that there is in any gem, installed or not
      def known(kind)
        (files_in(OWN, kind).keys + list.select { |_, other, _| other == kind }.map(&:last)).sort
      end

      # @param kind [String]
      # @return [Array<String>] the names of those whose gem is not there
      def absent(kind)
        known(kind) - names(kind)
      end

      # @param kind [String]
      # @param name [String]
      # @return [String, nil] the gem that has it and is not there
      def owner(kind, name)
        gem = listed(kind, name)
        gem unless folder(gem)
      end

      # @param what [String] what needs the gem
      # @param gem [String]
      # @return [MissingError]
      def missing(what, gem)
        MissingError.new("#{what} needs the gem #{gem}, which is not installed: #{installation(gem)}")
      end

      # The module has the same in lib/puppet_x/simpkv/gem_loading.rb, for machines without this gem.
      #
      # @return [String] the command gem of this Ruby
      def command
        require 'rbconfig'
        command = File.join(RbConfig::CONFIG['bindir'], 'gem')
        File.exist?(command) ? command : 'gem'
      end

      private

      # @return [String] the commands that install a gem
      def installation(gem)
        return "#{command} install #{gem}" unless gem.start_with?(NAME)

        "#{command} install #{gem} -v #{VERSION} ('puppetserver gem install' for puppetserver)"
      end

      # @return [Hash{String => String}] the folders of code of the other gems that are there
      attr_reader :others

      # @return [String, nil] the gem that adds a thing, there or not
      def listed(kind, name)
        list.find { |_, *thing| thing == [kind, name] }&.first
      end

      # Looks only for a gem that adds something of the kind: simpkv-server would load the gems that it needs into the
      # process of a compiler.
      #
      # @return [String, nil] the folder of a gem; nil if it is not there
      def folder(gem)
        LOCK.synchronize { activate(gem) } if gem
        others[gem]
      end

      # The load path has the gem, or RubyGems adds it.
      def activate(name)
        return if others.key?(name)

        choose_version(name)
        feature = "simpkv/gems/#{name.delete_prefix('simpkv-')}"
        require feature
      rescue LoadError => e
        load_for("the gem #{name}", name) { raise } unless e.path == feature
      end

      # Without it, RubyGems would take the newest version.
      def choose_version(name)
        gem(name, VERSION) if defined?(Gem)
      rescue Gem::LoadError
        nil # It is not installed as a gem, or not in this version.
      end

      # @return [Array<Array(String, String, String)>] the gem, the kind and the name of all that other gems add
      def list
        @list ||= File.readlines(LIST).map(&:split)
      end

      def files_in(folder, kind)
        Dir[File.join(folder, 'simpkv', kind, '*.rb')].to_h { |file| [File.basename(file, '.rb'), file] }
      end

      def file?(folder, kind, name)
        File.file?(File.join(folder, 'simpkv', kind, "#{name}.rb"))
      end

      def load(file, path)
        require file
        path.split('/').inject(Simpkv) { |outer, part| outer.const_get(constant(part), false) }
      end

      def constant(part)
        part.split('_').map(&:capitalize).join
      end
    end
  end
end
