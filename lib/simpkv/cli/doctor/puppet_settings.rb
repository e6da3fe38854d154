# frozen_string_literal: true

require 'simpkv/config/site_file'

module Simpkv
  module Cli
    # The settings of puppet.conf, as far as doctor needs them. Reads the file without Puppet.
    class PuppetSettings
      # The sections that a server, an agent and `puppet apply` read; the first one that has a setting wins.
      SERVER = %w[server master main].freeze
      AGENT = %w[agent main].freeze
      APPLY = %w[user main].freeze

      # The folder of code, where it is not `code` in the folder of the configuration.
      CODEDIRS = { '/etc/puppetlabs/puppet' => '/etc/puppetlabs/code' }.freeze
      private_constant :CODEDIRS

      # @return [String] the file
      attr_reader :file

      # @param beside [String, nil] the file with simpkv's options; puppet.conf is looked for beside it first
      # @return [PuppetSettings, nil] nil if there is no puppet.conf that this user can read
      def self.find(beside)
        all(beside).find { |settings| File.readable?(settings.file) }
      end

      # @param beside [String, nil] as for {find}
      # @return [Array<PuppetSettings>] of each folder that may be Puppet's, also of one without puppet.conf
      def self.all(beside)
        folders = [*(File.dirname(File.expand_path(beside)) if beside), *SiteFile::CONFDIRS].uniq
        folders.map { |folder| new(File.join(folder, 'puppet.conf')) }
      end

      # @param file [String] which may be missing: then all settings have their defaults
      def initialize(file)
        @file = file
        @sections = Hash.new { |sections, name| sections[name] = {} }
        section = 'main'
        lines = File.readable?(file) ? File.readlines(file, encoding: 'UTF-8') : []
        lines.map(&:scrub).each do |line|
          section = line[/\A\s*\[(\w+)\]/, 1] || section
          name, value = line.match(/\A\s*(\w+)\s*=\s*(.*?)\s*(#.*)?\z/)&.captures
          @sections[section][name] = value if name
        end
      end

      # @param name [String] of a setting
      # @param sections [Array<String>] the sections to look into, in order
      # @return [String, nil] its value; nil if none of the sections has it
      def [](name, sections = SERVER)
        first = sections.find { |section| @sections[section].key?(name) }
        first && @sections[first][name]
      end

      # @return [String] the folder of the file
      def confdir
        File.dirname(file)
      end

      # @return [String] the folder of code
      def codedir
        (self['codedir'] || CODEDIRS.fetch(confdir) { File.join(confdir, 'code') }).gsub('$confdir', confdir)
      end

      # @param name [String] of a setting
      # @param default [String]
      # @return [String] its value for servers, a path or several
      def path(name, default)
        (self[name] || default).gsub('$confdir', confdir).gsub('$codedir', codedir)
      end

      # @return [Boolean] whether the setting is true for that program
      def true?(name, sections = SERVER)
        self[name, sections] == 'true'
      end

      # @return [Boolean] whether that program keeps exported resources in simpkv
      def storeconfigs?(sections)
        true?('storeconfigs', sections) && storeconfigs_backend(sections) == 'simpkv'
      end

      # @return [String] the setting, or its default
      def storeconfigs_backend(sections = SERVER)
        self['storeconfigs_backend', sections] || 'puppetdb'
      end

      # @return [Array<String>] the report processors of that program
      def reports(sections = SERVER)
        (self['reports', sections] || 'store').split(/\s*,\s*/)
      end

      # @return [Boolean] whether a setting of a program that compiles catalogs names simpkv
      def simpkv?
        [SERVER, APPLY].any? do |sections|
          [storeconfigs_backend(sections), self['node_terminus', sections], *reports(sections)].include?('simpkv')
        end
      end
    end
  end
end
