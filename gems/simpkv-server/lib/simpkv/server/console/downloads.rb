# frozen_string_literal: true

require 'simpkv/server/console/query/csv'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Console
      # The rows that a page shows, as a file: with the parameter `format`. A class that includes this includes {Html},
      # too, and has `here`, `parameter` and `response`.
      module Downloads
        FORMATS = { 'csv' => 'text/csv; charset=utf-8', 'json' => 'application/json' }.freeze
        private_constant :FORMATS

        private

        # @param name [String] of the file
        # @yieldreturn [Array<Hash>] the rows
        # @return [String, nil] the file; nil if the page is asked for
        # @raise [Problem] there is no such format
        def file_of(name)
          @file = name
          format = parameter('format') || return
          type = FORMATS[format] || raise(Problem.new(400, "the parameter 'format' must be csv or json"))
          rows = yield
          response['content-type'] = type
          response['content-disposition'] = %(attachment; filename="#{name}.#{format}")
          format == 'csv' ? QueryCsv.text(rows) : Native.generate(rows)
        end

        # @return [String] HTML: links to the files, if the page has some
        def files
          return '' unless @file

          links = FORMATS.keys.map { |format| %(<a href="#{h(here(format: format))}">#{format.upcase}</a>) }
          %(<span class="files">These rows: #{links.join(' ')}</span>)
        end
      end
    end
  end
end
