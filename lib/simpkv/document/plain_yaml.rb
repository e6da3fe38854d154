# frozen_string_literal: true

require 'yaml'
require 'simpkv/errors'

module Simpkv
  # Reads YAML and JSON as plain data: Hashes, Arrays, Strings, numbers, true, false and nil.
  module PlainYaml
    # @param text [String] YAML with aliases, or JSON
    # @param strict [Boolean] true: refuse YAML that the parser accepts, but of which it loses a part: see {refuse_loss}
    # @param bounded [Boolean] true: refuse aliases and deep nesting, for text of somebody else: see {YamlBounds}
    # @return [Object]
    # @raise [MalformedError] it cannot be read, or has other objects, such as a Date or a Symbol; the message begins
    #   with `it`, names the line if the parser does, and quotes nothing
    def self.parse(text, strict: false, bounded: false)
      text = text.dup.force_encoding(Encoding::UTF_8).delete_prefix("\uFEFF")
      # JRuby's parser accepts other bytes.
      raise MalformedError, 'it is not UTF-8' unless text.valid_encoding?

      json(text, strict) || yaml(text, strict, bounded)
    rescue Psych::DisallowedClass
      raise MalformedError, 'it has a date, a symbol or another object: write text in quotes', cause: nil
    rescue Psych::Exception => e
      # The message of the parser quotes the text.
      line = ": see line #{e.line}" if e.respond_to?(:line)
      raise MalformedError, "it is neither YAML nor JSON#{line}", cause: nil
    end

    # YAML reads some JSON in another way: 1e3 is text, and a pair of surrogates is an error. {yaml} has the error for a
    # name that is given twice, with the line.
    def self.json(text, strict)
      return unless text.match?(/\A\s*[\[{]/)

      require 'simpkv/native/json_reader'
      data = Native.parse(text)
      data unless strict && !JsonReader.unique?(text, data)
    rescue MalformedError
      nil
    end
    private_class_method :json

    def self.yaml(text, strict, bounded)
      if bounded
        require 'simpkv/document/yaml_bounds'
        YamlBounds.check(text)
      end
      refuse_loss(YAML.parse_stream(text)) if strict
      YAML.safe_load(text, aliases: true)
    end
    private_class_method :yaml

    # The parser keeps the last of two equal names, and the first of several documents. It drops the `!` of `op: ! eq`,
    # and reads `{node.name}` as a Hash.
    def self.refuse_loss(stream)
      raise MalformedError, 'it has several documents: write one, without --- inside' if stream.children.size > 1

      stream.each do |node|
        line = " in line #{node.start_line + 1}" if node.start_line
        refuse_tag(node, line)
        next unless node.mapping?

        refuse_repetition(node, line)
        refuse_fields(node, line)
      end
    end
    private_class_method :refuse_loss

    def self.refuse_tag(node, line)
      return unless node.respond_to?(:tag) && node.tag.to_s.start_with?('!')

      raise MalformedError, "it has a tag#{line}: write text that begins with '!' in quotes"
    end
    private_class_method :refuse_tag

    def self.refuse_repetition(mapping, line)
      names = mapping.children.each_slice(2).map(&:first)
      names = names.select(&:scalar?).map(&:value) - ['<<']
      raise MalformedError, "it has the same name twice in the Hash#{line}" if names.uniq!
    end
    private_class_method :refuse_repetition

    def self.refuse_fields(mapping, line)
      return if mapping.style != Psych::Nodes::Mapping::FLOW || mapping.children.none? { |node| absent?(node) }

      raise MalformedError,
            "it has a name without a value in the Hash#{line}: write text that begins with '{' in quotes"
    end
    private_class_method :refuse_fields

    def self.absent?(node)
      node.scalar? && node.value.empty? && node.plain && node.tag.nil?
    end
    private_class_method :absent?
  end
end
