# frozen_string_literal: true

require_relative 'slapd'

# An OpenLDAP server. Its slapd.conf has no settings for simpkv until {#configure} includes files.
class ConfiguredSlapd < Slapd
  # Restarts the server with these files.
  #
  # @param files [Hash{String => String}] by their forms: `schema`, `access`, `limits`
  def configure(files)
    stop_serving
    @files = files
    File.write(configuration_file, configuration)
    launch
  end

  private

  def configuration
    [schema_section, *include_lines('schema'), <<~CONFIGURATION, *include_lines('access', 'limits'), @more].join("\n")
      database mdb
      suffix "#{SUFFIX}"
      rootdn "#{ROOT_DN}"
      rootpw "#{PASSWORD}"
      directory #{File.join(@folder, 'data')}
      dbnosync
    CONFIGURATION
  end

  def include_lines(*forms)
    (@files || {}).values_at(*forms).compact.map { |file| "include #{file}" }
  end

  def tree
    without_base
  end
end
