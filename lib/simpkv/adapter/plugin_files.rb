# frozen_string_literal: true

module Simpkv
  class Adapter
    # Finds the files of plugins, and reads their classes.
    class PluginFiles
      # @param folder [String] the folder of the module's own plugins, as Puppet knows it, links included
      def initialize(folder)
        @folder = folder
      end

      # Reads the plugins of the modules beside this one, then those of the rest of the modulepath. The first of a type
      # wins.
      #
      # @return [Array(Hash, Array<String>)] by type `{ class:, source: }`; and the warnings that each catalog gives
      def read
        types = {}
        warnings = files.map do |file|
          type = File.basename(file, '_plugin.rb')
          if types.key?(type)
            "Skipping load of simpkv plugin from #{file}: type '#{type}' is loaded already from #{types[type][:source]}"
          else
            plugin_class, why = class_from(file)
            types[type] = { class: plugin_class, source: file } if plugin_class
            why
          end
        end
        [types.freeze, warnings.compact.freeze].freeze
      end

      private

      def files
        # The path keeps its links: __dir__ would resolve them, away from the modulepath.
        own = File.expand_path('../../../..', @folder)
        environment = Puppet.lookup(:current_environment) { nil }
        folders = [own] + (environment ? environment.modulepath : [])
        plugins = folders.uniq { |folder| File.exist?(folder) ? File.realpath(folder) : folder }.flat_map do |folder|
          Dir.glob('*/lib/puppet_x/simpkv/?*_plugin.rb', base: folder).map { |file| File.join(folder, file) }.sort
        end
        # On an agent, this file is in no module.
        plugins | Dir.glob(File.join(@folder, '?*_plugin.rb')).sort
      end

      # @return [Array] the class; or nil, and why there is none
      def class_from(file)
        plugin_class = EnvironmentCode.evaluate(file, :plugin_class)
        raise 'it does not assign a class to the variable plugin_class' unless plugin_class.is_a?(Class)

        [plugin_class]
      rescue SystemExit, SignalException, NoMemoryError
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException -- a plugin may raise anything
        [nil, "simpkv plugin from #{file} failed to load: #{e.message}"]
      end
    end
  end
end
