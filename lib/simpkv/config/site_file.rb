# frozen_string_literal: true

require 'simpkv/config/site_sections'
require 'simpkv/config/unit_test'
require 'simpkv/errors'

module Simpkv
  # The YAML file with the options of the command `simpkv` and of the estate. Both look for it in the same places.
  module SiteFile
    # The default file.
    DEFAULT = '/etc/simpkv/simpkv.yaml'

    # The folders of Puppet's configuration, in Puppet's own packages and in Debian's.
    CONFDIRS = %w[/etc/puppetlabs/puppet /etc/puppet].freeze

    class << self
      # Finds the file: the one that SIMPKV_CONFIG names, else {DEFAULT} if it exists, else `simpkv.yaml` in a folder of
      # Puppet's configuration.
      #
      # @param confdirs [Array<String>] the folders; inside Puppet, its `confdir`
      # @return [String, nil] its path; nil if there is none
      # @raise [ConfigError] SIMPKV_CONFIG is empty. A script that sets it from an unset variable would use the store of
      #   production
      def find(confdirs = CONFDIRS + home)
        file = ENV.fetch('SIMPKV_CONFIG', nil)
        raise ConfigError, 'SIMPKV_CONFIG is empty: set it to the name of a file, or unset it' if file == ''

        places = confdirs.map { |folder| File.join(folder, 'simpkv.yaml') }
        return UnitTest.site_file(file || existing(places)) if UnitTest.running?

        file || existing([DEFAULT, *places])
      end

      # Finds and reads the file.
      #
      # @param confdirs [Array<String>] as {find}
      # @yieldparam options [Hash] those of the site, with `estate`; empty without a file
      # @return [Object] what the block returns
      # @raise [ConfigError] as {read}, or of the block; the message names the file
      # @raise [SystemCallError] the file cannot be read
      def load(confdirs)
        file = find(confdirs)
        yield file ? read(file) : {}
      rescue ConfigError => e
        raise e.naming(file), cause: nil
      end

      # Reads a file with the options, or a file with the key `simpkv::options`, as Hiera has them: see {SiteSections}.
      #
      # @param file [String]
      # @return [Hash] the options
      # @raise [ConfigError] the file does not have the options; the message names file and line and quotes nothing
      # @raise [SystemCallError] it cannot be read
      def read(file)
        parse(File.read(file), file)
      end

      # @param text [String] the content of such a file
      # @param title [String] its name, for messages
      # @return [Hash] the options
      # @raise [ConfigError] as {read}
      def parse(text, title)
        require 'simpkv/document/plain_yaml'
        data = PlainYaml.parse(text)
        hiera = data.is_a?(Hash) && data.key?(SiteSections::HIERA)
        # Strict: of a section that is there twice, options that protect something would be lost. Hiera is not strict.
        PlainYaml.parse(text, strict: true) unless hiera && !SiteSections.own?(data, title)
        hiera ? SiteSections.with_options(data, title) : plain(data)
      rescue MalformedError, ConfigError => e
        raise ConfigError.new(e.message).naming(title), cause: nil
      end

      private

      def existing(places)
        places.find { |path| File.exist?(path) }
      end

      # Root and the user puppet use the folders of the system.
      def home
        Process.euid.zero? ? [] : [File.join(Dir.home, '.puppetlabs/etc/puppet')]
      rescue ArgumentError
        [] # A user without a home.
      end

      def plain(data)
        raise ConfigError, 'expected the options of simpkv, a Hash' unless data.is_a?(Hash)
        return data if data.key?('backends')

        raise ConfigError, "there is neither '#{SiteSections::HIERA}' nor 'backends' in this file, so it does not " \
                           'say where keys are'
      end
    end
  end
end
