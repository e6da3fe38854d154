# frozen_string_literal: true

module Simpkv
  module Purging
    # The option `purge_unless`: the names of the keys that a purge leaves. Globs are those of File.fnmatch, with
    # braces. As in keys, a slash at the beginning means nothing, and several are one. A glob that ends with a slash, or
    # with `**` in the place of a name, matches all keys below that folder.
    class Patterns
      FLAGS = File::FNM_PATHNAME | File::FNM_DOTMATCH | File::FNM_EXTGLOB
      private_constant :FLAGS

      # @param patterns [Array<String, Regexp>] globs; a String that begins and ends with a slash is a regular
      #   expression
      # @raise [ConfigError] one is neither, or not a regular expression; names it
      def initialize(patterns)
        @patterns = patterns.map { |pattern| parsed(pattern) }
      end

      # @param names [Array<String>] the names of one key: its path below the folder, and its whole path
      # @return [Boolean] whether a pattern matches one of them
      def match?(*names)
        names = names.map(&:scrub)
        @patterns.any? { |pattern| names.any? { |name| matches?(pattern, name) } }
      end

      private

      def parsed(pattern)
        return pattern if pattern.is_a?(Regexp)
        raise ConfigError, "a pattern must be a String or a Regexp, not #{pattern.class}" unless pattern.is_a?(String)
        raise ConfigError, 'a pattern is empty' if pattern.empty?

        expression = pattern[%r{\A/(.+)/\z}m, 1]
        expression ? Regexp.new(expression) : glob(pattern)
      rescue RegexpError => e
        raise ConfigError, "'#{pattern}' is not a regular expression: #{e.message}", cause: nil
      end

      # @return [String] for File.fnmatch
      def glob(pattern)
        if pattern.gsub(/\\./m, '').match?(/\[[^\]]*\z/)
          raise ConfigError, "'#{pattern}' is no glob: a '[' has no ']'. For the character itself write '\\['"
        end

        pattern.squeeze('/').delete_prefix('/').sub(%r{(\A|/)(\*\*)?\z}, '\1**/*')
      end

      def matches?(pattern, name)
        pattern.is_a?(Regexp) ? pattern.match?(name) : File.fnmatch(pattern, name, FLAGS)
      end
    end
  end
end
