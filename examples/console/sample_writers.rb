# frozen_string_literal: true

require 'json'
require 'simpkv/audit/line'
require 'simpkv/backend'
require_relative 'sample_estate'

# Writes the lines of the audit log of a site that tell who has stored the keys of SampleEstate, whose times are past.
# So the pages of keys name the writers.
module SampleWriters
  # Local users, and whom the operation was for: compilers store what the manifest of a node makes, and the service what
  # people enter.
  WRITERS = [%w[puppet web01.brn.example.org], %w[simpkv account:ann], %w[puppet app04.zrh.example.org]].freeze
  # Seconds from the time in a document, which has no fractions, to the line.
  LATER = 0.5
  # No folders of Puppet: the site names the place of each store.
  VARDIRS = [[], []].freeze
  private_constant :WRITERS, :LATER, :VARDIRS

  class << self
    # @param site [Hash] the options of the site, whose backend `default` has an audit log in a file
    # @return [void]
    def log(site)
      options = site.dig('backends', 'default')
      store = Simpkv::Backend.of_globals(site, 'default', VARDIRS).open_existing
      lines = SampleEstate.paths.flat_map { |path| lines(options, path, JSON.parse(store.get(path))) }
      File.open(options.dig('audit', 'to'), 'a', 0o600) { |file| file.write(*lines.sort) }
    ensure
      store&.close
    end

    private

    # @return [Array<String>] a line for each version of the key
    def lines(options, path, document)
      [document, *document['history']].each_with_index.map do |version, index|
        user, node = WRITERS[(index + path.length) % WRITERS.length]
        line = Simpkv::Audit::Line.new(options.values_at('type', 'id').join('/'), options['admin_dn'] || user, user,
                                       node)
        line.of('put', path, 'written', 812).sub(/"time":"[^"]*"/, %("time":"#{time(version)}"))
      end
    end

    def time(version)
      (Time.iso8601(version['stored_at']) + LATER).utc.iso8601(6)
    end
  end
end
