# frozen_string_literal: true

require 'yaml'
require 'simpkv/cli/doctor/puppet_settings'
require 'simpkv/config/hiera_names'

module Simpkv
  module Cli
    # Finds misspelt names of `simpkv::options` in the data of all environments, and in the global data.
    class HieraExamination
      WHAT = 'Hiera data'
      # Folders of data whose hiera.yaml is missing, or of an earlier version.
      USUAL = %w[data hieradata].freeze
      private_constant :WHAT, :USUAL

      # @param places [Array<PuppetSettings>] the settings of the Puppets that may be there
      # @param findings [Findings] to be filled
      def initialize(places, findings)
        @places = places
        @findings = findings
      end

      # @return [void]
      def perform
        data = @places.flat_map { |puppet| folders(puppet) }.uniq.map { |folder| files_of(folder) }
        report(data.flat_map { |files| HieraNames.misspelt(files) }, data.sum(&:length))
      end

      private

      def report(names, number)
        names.each { |text| @findings.warning(WHAT, "it has the key #{text}", 'correct the name, or remove the key') }
        @findings.ok(WHAT, "no misspelt simpkv::options, files: #{number}") if names.empty? && number.positive?
      end

      # @return [Array<String>] the folders with a hiera.yaml: those of environments, and the global one
      def folders(puppet)
        environments = puppet.path('environmentpath', '$codedir/environments').split(File::PATH_SEPARATOR)
        [*environments.flat_map { |path| Dir.glob(File.join(path, '*/')) }.sort, puppet.confdir, puppet.codedir]
      end

      def files_of(folder)
        datadirs(folder).flat_map { |datadir| Dir.glob(File.join(datadir, '**/*.{yaml,yml,json,eyaml}')) }.sort.uniq
      end

      # A variable in the name of a folder stands for any folder.
      def datadirs(folder)
        names = hierarchy(folder).map { |level| level['datadir'] if level.is_a?(Hash) }.grep(String)
        fixed = names.map { |name| name.sub(%r{[^/]*%\{.*}m, '') } - ['', '/']
        (USUAL | fixed).map { |name| File.expand_path(name, folder) }
      end

      # @return [Array] the levels, and their defaults
      def hierarchy(folder)
        data = YAML.safe_load(File.read(File.join(folder, 'hiera.yaml')), aliases: true)
        data.is_a?(Hash) ? [data['defaults'], *data['hierarchy']] : []
      rescue SystemCallError, Psych::Exception
        []
      end
    end
  end
end
