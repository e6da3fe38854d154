# frozen_string_literal: true

require 'roda'
require 'simpkv/server/console/page'
require 'simpkv/server/console/visit'
require 'simpkv/server/observation'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Console
      # What the applications of the pages have in common: see {Console}.
      class Section < Roda
        HEADERS = {
          'content-type' => 'text/html; charset=utf-8',
          'content-security-policy' =>
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " \
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
          'cross-origin-opener-policy' => 'same-origin', 'cross-origin-resource-policy' => 'same-origin',
          # With no-referrer, the Origin of a form would be null, which stands for pages of other sites, too.
          'referrer-policy' => 'same-origin'
        }.freeze
        private_constant :HEADERS

        # The page that says what is wrong, and leads on.
        class Refusal < Page
          # @param problem [Problem]
          # @return [String] HTML
          def show(problem)
            response.status = problem.status
            problem.headers.each { |name, value| response[name] = value unless name == 'content-type' }
            page(problem.title, 'problem', problem: problem)
          end

          private

          # @return [Hash{String => String}] the names of pages that there are, by path: the one of the section first
          def ways_on
            section = Layout::MENU.select { |path, _| path != '/' && @visit.request.path.start_with?(path.chomp('/')) }
            section.merge('/' => 'Overview')
          end

          # @return [String] the last part of the path, which may be a name that is elsewhere
          def last_name
            name = @visit.names.last.to_s
            name.length > 200 ? '' : name
          end
        end

        plugin :default_headers, HEADERS
        plugin :error_handler, classes: Page::ERRORS do |error|
          Refusal.new(visit).show(Problem.of(error))
        end
        plugin :head
        plugin :hooks
        plugin :status_handler

        status_handler(404) { Refusal.new(visit).show(Problem.new(404, "there is no page #{request.path}")) }

        before { visit.check }

        private

        # @return [Visit]
        def visit
          @visit ||= Visit.new(request, response, opts.fetch(:gate))
        end

        # Names the page for metrics, as {Application#at}.
        def at(pattern)
          env[Observation::ROUTE] = pattern
        end
      end
    end
  end
end
