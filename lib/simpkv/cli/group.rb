# frozen_string_literal: true

require 'simpkv/cli/output'
require 'simpkv/gems'

module Simpkv
  module Cli
    # A group of commands: a module with the constant SUMMARY that extends this one. The names of files are the names of
    # its members, in any gem: `commands/passgen/import.rb` has the class `Commands::Passgen::Import`, which is `simpkv
    # passgen import`. A member is loaded when it is called. {Commands} is the group of all. The constant DEFAULT of a
    # group names the member that a word means if it names none: `simpkv secret KEY` is `simpkv secret get KEY`. A word
    # that looks like a command, such as `show` or `rm`, is refused.
    module Group
      # The sections of the list of commands, in their order. The constant SECTION of a command names one.
      SECTIONS = { keys: 'Keys', versions: 'Earlier values and expiry', nodes: 'Nodes', moving: 'Moving',
                   security: 'Encryption and access', storage: 'Storage', help: 'Help', more: 'More' }.freeze
      MEMBER = /\A[a-z]+(-[a-z]+)*\z/.freeze

      # Words that are hardly meant as keys, beside the names of commands.
      VERBS = %w[add cat change create generate info make move new print read remove rename renew replace reset set show
                 store update view write].freeze
      # The lines of a file that the list of commands needs: reading them is quicker than loading a class.
      LINE = /(HIDDEN|SECTION|SUMMARY) = [:'"]?(.*?)['"]?$/.freeze
      # The section of a member that names none.
      SECTION = :more
      Listed = Struct.new(:section, :summary)
      private_constant :MEMBER, :VERBS, :LINE

      # @param name [String] of a class or module of {Commands}
      # @return [String] the words that call it: `passgen import`
      def self.words(name)
        parts = name[/::Commands::(.*)/, 1].to_s.split('::')
        parts.map { |part| part.gsub(/(?<!\A)([A-Z])/, '-\1').downcase }.join(' ')
      end

      # @return [String] the words after `simpkv`; '' for all commands
      def title
        Group.words(name)
      end

      # @param word [String]
      # @return [Class, Group, nil] the command or group of that name, loaded
      def [](word)
        return unless word.match?(MEMBER)

        Gems.find(kind, aliases.fetch(word, word).tr('-', '_'))
      end

      # @param word [String] which names no member
      # @return [String, nil] the gem that has it, if that gem is missing
      def owner(word)
        Gems.owner(kind, word.tr('-', '_'))
      end

      # Removes the words that name a command or a group from the list.
      #
      # @param words [Array<String>]
      # @return [Class, Group] the command, or the group in which the next word names no member
      def resolve(words)
        member = self[words.first.to_s]
        return default(words.first) unless member

        words.shift
        member.is_a?(Class) ? member : member.resolve(words)
      end

      # @return [Hash{String => Listed}] what the list says of the members, by their names, section by section
      def listed
        lines = Gems.files(kind).transform_values { |file| File.read(file, encoding: 'UTF-8').scan(LINE).to_h }
        shown = lines.reject { |_, line| line.key?('HIDDEN') }.map do |name, line|
          [name.tr('_', '-'), Listed.new(line.fetch('SECTION', SECTION).to_sym, line['SUMMARY'])]
        end
        shown.sort_by { |name, line| [SECTIONS.keys.index(line.section), name] }.to_h
      end

      # @return [Hash{String => Class, Group}] the same members, loaded
      def members
        listed.keys.to_h { |name| [name, self[name]] }
      end

      # @return [Symbol] the section of the list of commands
      def section
        const_defined?(:SECTION, false) ? self::SECTION : SECTION
      end

      # @return [Hash{String => String}] the members by their other names
      def aliases
        const_defined?(:ALIASES, false) ? self::ALIASES : {}
      end

      # @return [Array<Class>] the commands that are shown, those of groups included
      def commands
        members.values.flat_map { |member| member.is_a?(Class) ? member : member.commands }
      end

      # @param word [String] which names no member
      # @return [String, nil] the member that was probably meant, with an option if it needs one
      def suggestion(word)
        begun = listed.keys.select { |name| name.start_with?(word) }
        return begun.first if begun.one?

        commands.map { |command| command::SUGGEST_FOR[word] }.compact.first || Spelling.nearest(word, listed.keys)
      end

      # @param word [String] which names no member
      # @return [String, nil] the call with this word as an argument of the default member; nil if there is none
      def call_of_default(word)
        "simpkv #{title} #{self::DEFAULT} #{word}" if const_defined?(:DEFAULT, false)
      end

      # @return [String] the text of --help
      def help
        call = "simpkv #{title}".rstrip
        <<~TEXT
          #{call}: #{self::SUMMARY}

          Usage: #{call} COMMAND [options] [arguments]

          #{list.join("\n")}

          #{call} COMMAND --help describes a command#{self::HELP if const_defined?(:HELP)}
        TEXT
      end

      private

      # @return [Class, Group] the member for such a word; the group itself if the word is rather a command
      def default(word)
        asks = word.nil? || HELP.include?(word)
        return self if asks || !const_defined?(:DEFAULT, false) || command?(word)

        self[self::DEFAULT]
      end

      # @return [Boolean] whether the word is a misspelt member, a verb, or the name of any command. Groups have nouns
      #   for names, as keys have
      def command?(word)
        name = word.downcase
        return true if VERBS.include?(name) || Spelling.nearest(word, listed.keys)

        Gems.known("cli/commands/#{name}").empty? && [Commands[name], Commands.owner(name)].any?
      end

      # @return [Array<String>] the lines of the list of members, with the titles of sections if there are several
      def list
        members = listed
        lines = Output.table(members.map { |name, member| ['', name, member.summary] })
        sections = lines.zip(members.each_value).group_by { |_, member| member.section }
        return lines if sections.one?

        sections.flat_map { |section, of_section| ['', "#{SECTIONS[section]}:", *of_section.map(&:first)] }.drop(1)
      end

      # @return [String] see {Gems}
      def kind
        "cli/commands/#{title.tr('- ', '_/')}".chomp('/')
      end
    end
  end
end
