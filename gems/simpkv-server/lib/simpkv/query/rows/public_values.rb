# frozen_string_literal: true

require 'simpkv/document/rich_data'

module Simpkv
  module Query
    class Rows
      # Leaves secrets out of values: what is Sensitive, and members whose names are those of secrets
      # (Estate::SecretNames). Replaces other objects of Puppet's rich data by texts that can be compared.
      class PublicValues
        # The types of which the content is the text.
        TEXTS = %w[Binary Symbol Regexp URI SemVer SemVerRange Timestamp Timespan].freeze

        # In place of a secret.
        SECRET = Object.new.freeze

        # The number of names of which the kind is kept. Agents choose them.
        NAMES_MAX = 20_000
        private_constant :TEXTS, :SECRET, :NAMES_MAX

        # @param secret_names [Estate::SecretNames]
        def initialize(secret_names)
          @secret_names = secret_names
          @names = {}
        end

        # @param members [Hash{String => Object}] plain data, or rich data
        # @return [Hash{String => Object}] without secrets; the same object if it has none
        def of(members)
          kept = hash(members)
          kept.equal?(SECRET) ? {} : kept
        end

        private

        # Values without secrets are not copied.
        def value(value)
          case value
          when String, Numeric, true, false, nil then value
          when Array then array(value)
          when Hash then value.key?(RichData::TYPE) ? object(value) : hash(value)
          else value.to_s
          end
        end

        def hash(members)
          copy = nil
          members.each do |name, member|
            kept = secret?(name) ? SECRET : value(member)
            next if kept.equal?(member)

            copy ||= members.dup
            kept.equal?(SECRET) ? copy.delete(name) : copy[name] = kept
          end
          copy || members
        end

        def array(list)
          kept = list.map { |member| value(member) }
          return list if kept.each_with_index.all? { |member, index| member.equal?(list[index]) }

          kept.reject { |member| member.equal?(SECRET) }
        end

        def object(data)
          type, content = data.values_at(RichData::TYPE, RichData::CONTENT)
          return SECRET if type == 'Sensitive'
          return 'default' if type == 'Default'
          return content if TEXTS.include?(type) && content.is_a?(String)

          pairs = RichData.pairs(data)
          pairs ? by_text(pairs) : reference(type, data) || hash(data)
        end

        # A key that is an object or a list is left out, with its value: it may hold a secret.
        #
        # @param pairs [Array<Array>] keys and values
        # @return [Hash{String => Object}, Array<Array>] values by the texts of their keys; pairs if two texts are the
        #   same, such as those of 1 and '1'
        def by_text(pairs)
          kept = pairs.reject { |key, _| key.is_a?(Enumerable) || secret?(key.to_s) }
          kept = kept.map { |key, member| [key, value(member)] }.reject { |_, member| member.equal?(SECRET) }
          texts = kept.to_h { |key, member| [key.to_s, member] }
          texts.length == kept.length ? texts : kept
        end

        # @return [String, nil] such as File[/etc/motd]
        def reference(type, data)
          case type
          when 'Pcore::ResourceType' then "#{CatalogRows.type(data['type_name'].to_s)}[#{data['title']}]"
          when 'Pcore::ClassType' then "Class[#{CatalogRows.type(data['class_name'].to_s)}]"
          end
        end

        def secret?(name)
          @names.clear if @names.size >= NAMES_MAX
          @names.fetch(name) { @names[name] = @secret_names.include?(name) }
        end
      end
      private_constant :PublicValues
    end
  end
end
