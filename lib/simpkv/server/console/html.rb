# frozen_string_literal: true

require 'erubi'
require 'rack'
require 'time'
require 'simpkv/counted'
require 'simpkv/server/console/tree'

module Simpkv
  module Server
    class Console < Roda
      # Parts of pages that several pages have. Methods that return HTML say so: a template writes `<%== ... %>` for
      # these, and `<%= ... %>`, which escapes, for all else.
      module Html
        # The seconds of units of time, from the largest.
        UNITS = { 'day' => 86_400, 'hour' => 3600, 'minute' => 60, 'second' => 1 }.freeze
        # The statuses of nodes and reports that have a color of their own.
        STATUSES = %w[failed changed unchanged noop unseen never].freeze
        # Bytes of an address in a table of which there are many.
        LINK = 600
        private_constant :UNITS, :STATUSES, :LINK

        # @param text [Object]
        # @return [String] HTML
        def h(text)
          Erubi.h(text)
        end

        # @param segments [Array<String>] not escaped
        # @return [String] the path of a page, such as /nodes/web1.example.com
        def url(*segments, **query)
          given = query.compact
          Api.path(*segments) + (given.empty? ? '' : "?#{Rack::Utils.build_query(given)}")
        end

        # @return [String] the address of this page with other parameters; nil removes one. Of the parameters of the
        #   request, it has those that the page has read by {#given}: a link repeats nothing that means nothing
        def here(**changes)
          address(request.GET.slice(*@read).merge(changes.transform_keys(&:to_s)).compact)
        end

        # @param query [Hash{String => Object}]
        # @return [String] the address of this page with these parameters
        def address(query)
          path = Api.path(*env.fetch(Gate::SEGMENTS))
          path += '/' if request.path_info.end_with?('/')
          query.empty? ? path : "#{path}?#{Rack::Utils.build_query(query)}"
        end

        # @param name [String] of a file of `assets`
        # @return [String] its address
        def asset(name)
          "/console/#{name}?v=#{STAMP}"
        end

        # @param text [Object, nil] a time of RFC 3339, or what a document has in its place
        # @return [String] HTML: how long ago it is or how soon it comes, with the time itself beside it
        def ago(text, now: Time.now)
          return 'never' if text.nil?

          time = Time.iso8601(text)
          %(<time datetime="#{h(text)}" title="#{h(text)}">#{distance(time - now)}</time>)
        rescue ArgumentError, TypeError
          h(text)
        end

        # @param status [String, nil] of a node or a report
        # @return [String] HTML: the word, with a color
        def badge(status)
          status ||= 'unseen'
          %(<span class="badge#{" #{status}" if STATUSES.include?(status)}">#{h(status)}</span>)
        end

        # @param value [Object] of JSON
        # @return [String] HTML: a tree whose branches open without a script. With a block: see {Tree}
        def tree(value, at = [], &link)
          Tree.new(at, &link).html(value)
        end

        # @param text [Object]
        # @param length [Integer] the number of characters that a page shows
        # @return [String] at most so many. A page that calls this has a link to the whole
        def cut(text, length = 120)
          text = text.to_s
          text.length > length ? "#{text[0, length]}…" : text
        end

        # @param text [String]
        # @param address [String]
        # @return [String] HTML: a link in a table. Somebody else's name may be too long for one
        def linked(text, address)
          text = h(cut(text))
          address.bytesize > LINK ? text : %(<a href="#{h(address)}">#{text}</a>)
        end

        # @param total [Integer] the number of rows
        # @param offset [Integer] of the first one on this page
        # @param limit [Integer] rows of a page
        # @return [String] HTML: links to the pages before and after this one
        def pager(total, offset, limit)
          last = [offset + limit, total].min
          links = []
          links << page_link('prev', 'Previous', [[offset, total].min - limit, 0].max) if offset.positive?
          links << page_link('next', 'Next', last) if last < total
          %(<nav class="pager" aria-label="Pages"><span>#{shown_rows(total, offset, last)}</span>#{links.join}</nav>)
        end

        # @param name [String] of a parameter of the query
        # @return [String] what it is; empty for nothing
        # @raise [Problem] it is no text
        def given(name)
          @read = [*@read, name]
          value = request.GET[name]
          return value.to_s if value.nil? || value.is_a?(String)

          raise Problem.new(400, "the parameter '#{name}' must be a text")
        end

        # @param name [String] of a parameter of the query
        # @param default [Integer]
        # @param range [Range<Integer>]
        # @return [Integer] it; the default if it is empty
        # @raise [Problem] it is no whole number of this range
        def number(name, default, range)
          whole(given(name), "the parameter '#{name}'", default, range)
        end

        # @param text [String] that a person has given
        # @param title [String] what it is, for the message
        # @return [Integer] it; the default if it is empty
        # @raise [Problem] it is no whole number of this range
        def whole(text, title, default, range)
          return default if text.empty?

          Coercion.convert(range, text) || raise(Problem.new(400, "#{title} must be #{Coercion.needed(range)}"))
        end

        private

        def page_link(relation, text, offset)
          %(<a rel="#{relation}" href="#{h(here(offset: offset))}">#{text}</a>)
        end

        def shown_rows(total, offset, last)
          return 'nothing found' if total.zero?

          offset < last ? "#{offset + 1} to #{last} of #{total}" : "no rows here: there are #{total}"
        end

        def distance(seconds)
          count = seconds.abs
          name, unit = UNITS.find { |_, length| count >= length } || ['second', 1]
          count = (count / unit).floor
          text = Counted.of(count, name)
          seconds.negative? ? "#{text} ago" : "in #{text}"
        end
      end
    end
  end
end
