# frozen_string_literal: true

require 'erubi'
require 'roda'
require 'simpkv/document/json_pointer'
require 'simpkv/server/console/line_breaks'

module Simpkv
  module Server
    module Console
      # A value of JSON as nested lists, whose branches open without a script. With a block, large parts are left to
      # pages of their own, so that the list stays below {MOST}.
      class Tree
        # The number of bytes of HTML of a tree, and of a branch inside of it.
        MOST = 60_000
        BRANCH = 8000
        # The number of members of a branch that are listed.
        MEMBERS = 200
        # The number of characters of a text, and of a name.
        TEXT = 300
        NAME = 200
        # The number of characters of a pointer that a link may have.
        POINTER = 1000
        private_constant :MOST, :BRANCH, :MEMBERS, :TEXT, :NAME, :POINTER

        # @param at [Array<String>] where the value is in the whole
        # @yieldparam pointer [String] to a part of the whole
        # @yieldreturn [String, nil] the address of its page; nil if it has none
        def initialize(at = [], &link)
          @at = at
          @link = link
          @left = MOST
        end

        # @param value [Object]
        # @return [String] HTML
        def html(value)
          value.is_a?(Enumerable) ? list(value, @at, true) : leaf(value, @at)
        end

        private

        def list(value, at, top = false) # rubocop:disable Style/OptionalBooleanParameter
          return '<code>(empty)</code>' if value.empty?

          items = []
          members(value).each do |name, member|
            break if @link && (items.length >= MEMBERS || @left.negative?)

            items << item(name, member, [*at, name.to_s], top)
          end
          items << "<li>and #{value.length - items.length} more</li>" if items.length < value.length
          %(<ul class="tree">#{items.join}</ul>)
        end

        def members(value)
          return value.each_with_index.map { |member, index| [index, member] } if value.is_a?(Array)

          value.sort_by { |name, _| name.to_s }
        end

        def item(name, member, at, top)
          html = "<li>#{branch(name, member, at)}</li>"
          return html unless @link && member.is_a?(Enumerable) && html.bytesize > (top ? [BRANCH, @left].min : BRANCH)

          html = "<li>#{named(name)} #{elsewhere("#{member.length} members", at)}</li>"
        ensure
          @left -= html.bytesize if html && top
        end

        def branch(name, member, at)
          return "#{named(name)} #{leaf(member, at)}" unless member.is_a?(Enumerable)
          return "#{named(name)} #{list(member, at)}" if member.empty?

          "<details><summary>#{named(name)} <small>#{member.length}</small></summary>#{list(member, at)}</details>"
        end

        def named(name)
          %(<span class="name">#{h(short(name.to_s, NAME))}</span>)
        end

        def leaf(value, at)
          text = value.nil? ? 'null' : value.to_s
          return "<code>#{LineBreaks.in(text)}</code>" unless @link && text.length > TEXT

          "<code>#{LineBreaks.in(short(text, TEXT))}</code> #{elsewhere("all #{text.length} characters", at)}"
        end

        def elsewhere(words, at)
          pointer = JsonPointer.of(at)
          address = @link.call(pointer) if pointer.length <= POINTER
          address ? %(<a href="#{h(address)}">#{words}</a>) : "<small>#{words}, not shown here</small>"
        end

        def short(text, length)
          @link && text.length > length ? "#{text[0, length]}…" : text
        end

        def h(text)
          Erubi.h(text)
        end
      end
    end
  end
end
