# frozen_string_literal: true

require 'simpkv/cli/directory/directory_schema'
require 'simpkv/cli/failure'
require 'simpkv/cli/output'

module Simpkv
  module Cli
    # The part of a file for `cn=config` that a server of OpenLDAP lacks. If a file is loaded again, slapd refuses the
    # schema, and adds each access rule a second time.
    class MissingConfig
      # The number of a rule or a limit.
      NUMBER = /\A\{\d+\}/.freeze
      NOTHING = "# The server has all of it.\n"
      private_constant :NUMBER, :NOTHING

      # @param store [Store] of the server, with an identity that may read its `cn=config`
      # @param layout [String] plain or hex
      def initialize(store, layout)
        @store = store
        @layout = layout
      end

      # @param text [String] the file, which adds the schema and values of other entries
      # @return [String] the same without what the server has
      # @raise [Failure] there is no such database
      # @raise [Simpkv::Error] the identity may not read it
      def of(text)
        records = text.split(/\n{2,}/).map { |record| missing_part(record) }.compact
        records.any? { |record| name(record) } ? "#{records.join("\n\n").chomp}\n" : NOTHING
      end

      private

      # @return [String, nil] the record without the values that the entry has; nil if none is left
      def missing_part(record)
        dn = name(record)
        return record unless dn
        return (record if DirectorySchema.new(@store, @layout).missing.any?) if dn.end_with?(',cn=schema,cn=config')

        kept = record.lines.reject { |line| values(dn).include?(setting(line)) }
        kept.join if kept.any? { |line| setting(line) }
      end

      def name(record)
        record.lines.map { |line| value_of(line, 'dn') }.compact.first
      end

      def values(name)
        @values ||= {}
        @values[name] ||= @store.directory.read_entry(name, ['*']).values.flatten.map { |value| comparable(value) }
      rescue NotFoundError
        raise Failure.new("the server has no '#{Output.name(name)}': --database names the one with the base DN",
                          Failure::CONFIG), cause: nil
      end

      # @return [String, nil] the value that a line adds
      def setting(line)
        value = value_of(line, 'olc\w+')
        value && comparable(value)
      end

      # @return [String] the value without its number, its spaces, and the case of its names
      def comparable(value)
        value.dup.force_encoding(Encoding::UTF_8).sub(NUMBER, '').split.join(' ').downcase
      end

      # @return [String, nil] the value of a line of LDIF, if the attribute has that name
      def value_of(line, name)
        plain, encoded = line.match(/\A#{name}:(?: (.*)|: (\S+))$/)&.captures
        encoded ? encoded.unpack1('m').force_encoding(Encoding::UTF_8) : plain
      end
    end
  end
end
