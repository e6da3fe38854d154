# frozen_string_literal: true

require 'yaml'
require 'simpkv/config/site_sections'

module Simpkv
  # Finds misspelt names of `simpkv::options` in files of Hiera. Nothing looks such a key up, so that functions would
  # silently store secrets in the default folder (docs/adr/0087).
  module HieraNames
    # A name that begins as those of this module do.
    NAME = /(?<![\w:])simpkv:{1,2}[\w:]*\w/i.freeze
    private_constant :NAME

    class << self
      # @param files [Array<String>] the data of Hiera that belong together; those that cannot be read are left out
      # @return [Array<String>] a sentence for each misspelt key to which no value in the files refers
      def misspelt(files)
        texts = files.uniq.to_h { |file| [file, text_of(file)] }.compact
        texts.flat_map do |file, text|
          names_in(text).reject { |name| texts.values.any? { |other| used?(name, other) } }.map do |name|
            "'#{name}' in #{file}, which simpkv does not read: did you mean '#{SiteSections::HIERA}'?"
          end
        end
      end

      private

      def text_of(file)
        File.read(file, encoding: 'UTF-8').scrub if File.file?(file)
      rescue SystemCallError
        nil
      end

      # Parses only a text that has such a name at any place.
      def names_in(text)
        names = text.scan(NAME).uniq.select { |name| like?(name) }
        names.empty? ? [] : names & keys_of(text)
      end

      def like?(name)
        word = name.downcase.sub(/\Asimpkv:+/, '')
        name != SiteSections::HIERA && (word.start_with?('opt') || !Spelling.nearest(word, %w[options]).nil?)
      end

      # @return [Array<String>] the keys at the top; none in a file that Hiera cannot read
      def keys_of(text)
        top = YAML.parse_stream(text).children.map(&:root).first
        top&.mapping? ? top.children.each_slice(2).map { |key, _| key.value if key.scalar? } : []
      rescue Psych::SyntaxError
        []
      end

      # By an interpolation such as %{alias('simpkv::opt_common')}.
      def used?(name, text)
        text.match?(/%\{\s*\w+\s*\(\s*["']#{Regexp.escape(name)}["'.]/)
      end
    end
  end
end
