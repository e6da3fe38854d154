# frozen_string_literal: true

# The paths of keys and folders in a backend.
#
# The adapter evaluates this file, and takes the class from the variable. It has no name, so that every environment has
# its own.
paths_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # @param options [Hash] `global` and `environment` count; the environment `''` is the folder of all environments
  # @return [String] the path below the folder of the environment, or of the global keys
  # @raise [ArgumentError, Simpkv::Error] a name could lead elsewhere, or is too long
  def self.of(name, options)
    Simpkv::Native.key_join(Simpkv::Config.prefix(options), name)
  end

  # @return [String] the path of a key, which is not the root of an environment or of the global keys
  def self.of_key(key, options)
    path = of(key, options)
    root = path.count('/') < 2 && path.match?(%r{\A(globals|environments(/[^/]+)?)\z})
    raise Simpkv::IsFolderError, "Key specifies a folder: '#{key}'" if root

    path
  end

  # @return [Array(Hash{String => String}, Hash{String => String})] by key: the paths, and why a key has none
  def self.of_keys(keys, options)
    errors = {}
    paths = keys.to_h do |key|
      [key, of_key(key, options)]
    rescue Simpkv::Error => e
      errors[key] = e.message
      [key, nil]
    end
    [paths.compact, errors]
  end
end
