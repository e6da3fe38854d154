# frozen_string_literal: true

require 'simpkv/cli/chosen_backend'
require 'simpkv/cli/data_file'
require 'simpkv/config/site_file'

module Simpkv
  module Cli
    # The options of a command: those of a file, of Hiera, or none, overridden by the command line.
    class Configuration
      # The type of the backend comes with a plugin of a module: functions can use it, the command cannot.
      class PluginType < ConfigError; end

      # @param flags [Hash{Symbol => Object}] the options of the command line: config, from_puppet, node,
      #   environment, global, vardir
      def initialize(flags)
        @flags = flags
      end

      # @return [String] the source of the options, in words
      attr_reader :source

      # @return [String, nil] the file that has the options, if one has
      attr_reader :file

      # @param name [String, nil] of the backend; nil for the one that functions use
      # @return [ChosenBackend]
      # @raise [ConfigError]
      def backend(name = nil)
        merged = options
        merged['backend'] = name if name
        why = reason(merged, name)
        merged['backend'] = Config.backend_for(merged, nil)
        merged['global'] = Config.flag(merged, 'global')
        # Only functions refuse two places with one id. The command moves keys between them.
        chosen = merged['backends'].slice(merged['backend'])
        merged['backends'] = chosen if chosen.any?
        refuse_plugin(merged)
        ChosenBackend.new(merged, why, @flags[:vardir]).tap do
          (Config.doubts(merged) - Config.site_doubts(site)).each { |doubt| warn "simpkv: #{doubt}" }
        end
      end

      # @return [String, nil] the reason why functions refuse these options; types of modules are ignored
      def refusal
        merged = options
        merged['backend'] ||= Config.backend_for(merged, nil)
        Validation.check(merged, Config::TYPES.keys | [plugin_type(merged)].compact)
        nil
      rescue ConfigError => e
        e.message
      end

      # @return [Array<String>] the names of all backends
      def backend_names
        backends = options['backends']
        backends.is_a?(Hash) ? backends.keys : []
      end

      # @return [Array<String>] the names of those with a type of simpkv: others come with plugins, which work in Puppet
      #   only
      def usable_backends
        usable = Config.backends_of(options).select do |_, backend|
          backend.is_a?(Hash) && Config::TYPES.key?(backend['type'])
        end
        usable.keys
      end

      # @param name [String] of a section
      # @return [Hash{String => Object}] its options: see {Config::Sections.convert}
      # @raise [ConfigError] an option is missing, is unknown or has the wrong type, or the gem of the section is not
      #   installed; the message names the source
      def section(name)
        naming_source { Config::Sections.convert(site, name) }
      end

      # @return [Hash] the options of the site, overridden by the command line
      # @raise [ConfigError, Failure]
      def options
        merged = Backend.site_options(site)
        merged['environment'] = @flags.fetch(:environment, 'production')
        merged['global'] = @flags[:global] if @flags.key?(:global)
        # The default of the site may be global keys.
        merged['global'] = false if @flags.key?(:environment) && !@flags[:global]
        merged
      end

      # @return [Hash] the options of the site
      # @raise [ConfigError, Failure]
      def site
        @site ||= read.tap { |site| Config.site_doubts(site).each { |doubt| warn "simpkv: #{doubt}" } }
      end

      private

      def naming_source
        yield
      rescue ConfigError => e
        raise e.naming(source), cause: nil
      end

      # @return [String, nil] the type of the chosen backend, if this command lacks it
      def plugin_type(merged)
        chosen = merged['backends'].is_a?(Hash) && merged['backends'][merged['backend']]
        type = chosen['type'] if chosen.is_a?(Hash)
        type if type.is_a?(String) && !type.empty? && !Config::TYPES.key?(type)
      end

      def refuse_plugin(merged)
        type = plugin_type(merged)
        return unless type

        likely = Spelling.nearest(type, Config::TYPES.keys)
        raise PluginType, "simpkv backend '#{merged['backend']}' is of the type '#{type}'" \
                          "#{likely ? ": did you mean '#{likely}'?" : '.'} The command has the types " \
                          "#{Config::TYPES.keys.join(' and ')} only: a plugin of a module works in Puppet only"
      end

      def reason(merged, name)
        return 'by --backend' if name
        return "by 'backend' in #{source}" if merged['backend']

        source ? "by default, from #{source}" : 'by default: there is no configuration'
      end

      def read
        check_sources
        return from_puppet if @flags[:from_puppet]

        return from_standard_input if @flags[:config] == DataFile::STREAM

        file = @flags[:config] || SiteFile.find
        file ? from_file(file) : {}
      end

      def check_sources
        file, puppet, node = @flags.values_at(:config, :from_puppet, :node)
        refuse('--config and --from-puppet exclude each other: name one source of the options') if file && puppet
        refuse('--node needs --from-puppet') if node && !puppet
        refuse('--config needs the name of a file, and it is empty') if file == ''
      end

      def refuse(message, code = Failure::USAGE)
        raise Failure.new(message, code)
      end

      def from_standard_input
        @source = DataFile.title(DataFile::STREAM)
        SiteFile.parse(DataFile.bytes(DataFile::STREAM), @source)
      end

      def from_file(file)
        @source = @file = file
        SiteFile.read(file)
      rescue Errno::ENOENT
        refuse("#{file}: there is no such file", Failure::NO_INPUT)
      rescue Errno::EISDIR
        refuse("#{file}: this is a folder; the options are in a file", Failure::NO_INPUT)
      rescue Errno::EACCES
        refuse("#{file}: no permission to read this file", Failure::NO_PERMISSION)
      end

      def from_puppet
        require 'json'
        require 'open3'
        @source = 'Hiera'
        out, why, status = Open3.capture3(*lookup)
        raise Failure.new("puppet lookup failed: #{why.lines.last.to_s.strip}", Failure::CONFIG) unless status.success?

        data = JSON.parse(out)
        # puppet lookup prints the default as text if Hiera has no options.
        data = {} if data == '{}'
        return data if data.is_a?(Hash)

        raise Failure.new("'simpkv::options' in Hiera is not a Hash", Failure::CONFIG)
      rescue JSON::ParserError
        raise Failure.new('puppet lookup did not answer JSON', Failure::CONFIG), cause: nil
      rescue Errno::ENOENT
        raise Failure.new('there is no puppet: put it on the PATH, or use --config', Failure::CONFIG)
      end

      def lookup
        words = [puppet, 'lookup', 'simpkv::options', '--default', '{}', '--render-as', 'json', '--color', 'false',
                 '--environment', @flags.fetch(:environment, 'production')]
        @flags[:node] ? [*words, '--node', @flags[:node]] : words
      end

      # The puppet of the PATH, or else the one of its packages.
      def puppet
        packaged = '/opt/puppetlabs/bin/puppet'
        folders = ENV.fetch('PATH', '').split(File::PATH_SEPARATOR)
        on_path = folders.any? { |folder| File.executable?(File.join(folder, 'puppet')) }
        on_path || !File.executable?(packaged) ? 'puppet' : packaged
      end
    end
  end
end
