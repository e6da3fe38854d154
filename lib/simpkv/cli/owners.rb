# frozen_string_literal: true

require 'simpkv/gems'

module Simpkv
  module Cli
    # Folders of a store with documents that belong together, such as those of the estate. The class of
    # `simpkv/cli/owners/NAME.rb`, in any gem (see {Gems}), owns the folder `globals/NAME`. Its methods:
    #
    # check(settings, store):: a method of the class. Raises an error if the options of the backend are wrong for the
    #   folder
    # new(configuration, backend):: for a {ChosenBackend}
    # completeness(roots, decrypt):: returns an object whose method `see` is told of each key that a reading finds, and
    #   whose method `faults` then names what is missing
    # make(**options):: prepares the folder for `simpkv init`, and returns what it did
    # refusal:: returns why `simpkv rekey` refuses plain documents in the folder, or nil. Raises as `check`
    # rekeyed:: `simpkv rekey` calls it when all documents have the form that the options name
    module Owners
      KIND = 'cli/owners'
      private_constant :KIND

      class << self
        # @return [Array<String>] the names of all, installed or not
        def known
          Gems.known(KIND)
        end

        # @return [Array<String>] the names of those whose gem is not installed
        def missing
          Gems.absent(KIND)
        end

        # @param name [String]
        # @return [String] the path of its folder
        def folder(name)
          "globals/#{name}"
        end

        # @param settings [Hash{String => Object}] the options of a backend
        # @param store [Store]
        # @param paths [Array<String>] of keys that are to be stored
        # @return [void]
        # @raise [ConfigError] the options may not be used for that, or the gem that knows is not installed
        # @raise [Error]
        def check(settings, store, paths)
          known.each do |name|
            beginning = "#{folder(name)}/"
            demand(name).check(settings, store) if paths.any? { |path| path.start_with?(beginning) }
          end
        end

        # @param configuration [Configuration]
        # @param backend [ChosenBackend]
        # @param store [Store] of the backend
        # @return [Hash{String => Object}] by name, those that are installed
        # @raise [ConfigError] the store has the folder of another one
        def of(configuration, backend, store)
          there = known.reject { |name| missing.include?(name) && kind(store, name).nil? }
          there.to_h { |name| [name, demand(name).new(configuration, backend)] }
        end

        # @param name [String]
        # @return [Class]
        # @raise [Gems::MissingError] its gem is not installed
        def demand(name)
          Gems.demand(KIND, name, "the folder '#{folder(name)}'")
        end

        private

        def kind(store, name)
          store.kind(folder(name))
        rescue DeniedError
          nil
        end
      end
    end
  end
end
