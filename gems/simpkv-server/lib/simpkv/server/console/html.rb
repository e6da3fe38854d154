# frozen_string_literal: true

require 'erubi'
require 'rack'
require 'time'
require 'simpkv/counted'
require 'simpkv/server/console/api'
require 'simpkv/server/console/line_breaks'
require 'simpkv/server/console/tree'

module Simpkv
  module Server
    module Console
      # Parts of pages that several pages have. Methods that return HTML say so: a template writes `<%== ... %>` for
      # these, and `<%= ... %>`, which escapes, for all else.
      module Html
        # The seconds of units of time, from the largest.
        UNITS = { 'day' => 86_400, 'hour' => 3600, 'minute' => 60, 'second' => 1 }.freeze
        # The statuses of nodes and reports that have a color of their own.
        STATUSES = %w[failed changed unchanged noop unseen never].freeze
        # Bytes of an address in a table of which there are many.
        LINK = 600
        # The most rows of a table without pages.
        LISTED = 50
        private_constant :UNITS, :STATUSES, :LINK, :LISTED

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

        # @param text [Object, nil] a time of RFC 3339, or what a document has in its place
        # @return [String] HTML: how long ago it is or how soon it comes, with the time itself beside it
        def ago(text, now: Time.now)
          return 'never' if text.nil?

          time = Time.iso8601(text)
          %(<time datetime="#{h(text)}" title="#{h(text)}">#{distance(time - now)}</time>)
        rescue ArgumentError, TypeError
          h(text)
        end

        # @param runs [FailedRuns]
        # @return [String] HTML: how often a node has failed, and since when
        def failed_runs(runs)
          return "failed in all #{runs.number} stored runs, the first #{ago(runs.since)}" if runs.all && runs.number > 1
          return "failed once, #{ago(runs.since)}" if runs.number == 1

          "failed #{runs.number} times in a row, first #{ago(runs.since)}"
        end

        # @param certname [String]
        # @param hash [String] of a report
        # @param resource [String] such as `File[/etc/motd]`
        # @return [String] the address of the report, at the first event of the resource
        def resource_in_report(certname, hash, resource)
          "#{url('nodes', certname, 'reports', hash, resource: resource)}#found"
        end

        # @param time [String] of the index
        # @param why [String, nil] it is not refreshed
        # @return [String] HTML
        def old_index(time, why = nil)
          %(<p class="problem" role="alert">The index was last refreshed #{ago(time)}, and does not follow the store ) +
            "now. This page shows what the index had at that time.#{h(cut(" The reason: #{why}", 1000)) if why}</p>"
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

        # @param text [Object]
        # @param length [Integer] as for {#cut}
        # @return [String] HTML: a path or name, which goes on in the next line between its parts
        def broken(text, length = 120)
          LineBreaks.in(cut(text, length))
        end

        # @param text [Object, nil] a time of RFC 3339, or what a document has in its place
        # @return [String] HTML: the time of the day in UTC, for times of which all are of one run
        def clock(text)
          %(<time datetime="#{h(text)}" title="#{h(text)}">#{Time.iso8601(text).utc.strftime('%H:%M:%S')}</time>)
        rescue ArgumentError, TypeError
          h(text)
        end

        # @param text [String]
        # @param address [String]
        # @return [String] HTML: a link in a table. Somebody else's name may be too long for one
        def linked(text, address)
          text = h(cut(text))
          address.bytesize > LINK ? text : %(<a href="#{h(address)}">#{text}</a>)
        end

        # @param rows [Array]
        # @return [Array] those that a table without pages shows
        def first_rows(rows)
          rows.first(LISTED)
        end

        # @param rows [Array]
        # @param total [Integer] the number of all, if the API has not all of them
        # @return [String] HTML: that there are more, or nothing
        def more_rows(rows, total = rows.length)
          more = total - first_rows(rows).length
          return '' unless more.positive?

          %(<p class="muted">#{more} more #{more == 1 ? 'is' : 'are'} not shown.</p>)
        end

        private

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
