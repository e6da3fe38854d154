# frozen_string_literal: true

module Simpkv
  module Cli
    # The treatment of names with capital letters by a transfer into a backend that refuses them.
    class CasePolicy
      POLICIES = %w[refuse skip lower].freeze

      # @return [Array<String>] paths with such names, sorted
      attr_reader :affected

      # @param backend [ChosenBackend] the target
      # @param policy [String] one of {POLICIES}
      def initialize(backend, policy)
        @keys_too = !backend.case_sensitive?
        @environments_too = backend.ldap? && !backend.settings['fold_case']
        @policy = policy
        @affected = []
      end

      # @param paths [Array<String>]
      # @return [Hash{String => String}] by the path in the target, the path in the source
      # @raise [Failure] they are refused, or two become one
      def targets(paths)
        @affected, plain = paths.partition { |path| capital?(path) }
        @affected.sort!
        chosen = plain.to_h { |path| [path, path] }
        return chosen if @affected.empty?
        raise Failure.new(refusal, Failure::DATA) if @policy == 'refuse'

        lower(chosen) if @policy == 'lower'
        chosen
      end

      private

      # Lower-cases the parts of the path that the target refuses: the environment or the rest.
      def lowered(path)
        root, environment, *rest = path.split('/')
        return [root, *lower_keys([environment, *rest])].join('/') if root == 'globals'

        environment = environment.downcase if @environments_too
        [root, environment, *lower_keys(rest)].join('/')
      end

      def lower_keys(names)
        @keys_too ? names.map(&:downcase) : names
      end

      def capital?(path)
        path.match?(/[[:upper:]]/) && lowered(path) != path
      end

      def lower(chosen)
        collisions = []
        @affected.group_by { |path| lowered(path) }.each do |target, paths|
          paths += [target] if chosen.key?(target)
          paths.length > 1 ? collisions << paths : chosen[target] = paths.first
        end
        return if collisions.empty?

        lines = collisions.map { |paths| "  #{paths.join(', ')}" }
        raise Failure.new("lower-cased, these would be one key:\n#{lines.join("\n")}\nNothing was stored. Rename " \
                          'them first', Failure::DATA)
      end

      def refusal
        "the target takes no capital letters in names, and these have some:\n#{Output.some(@affected)}\n" \
          'Nothing was stored. --capitals skip leaves them out, --capitals lower lower-cases them'
      end
    end
  end
end
