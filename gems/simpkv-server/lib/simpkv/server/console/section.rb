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

        # The page that says what is wrong.
        class Refusal < Page
          # @param problem [Problem]
          # @return [String] HTML
          def show(problem)
            response.status = problem.status
            problem.headers.each { |name, value| response[name] = value unless name == 'content-type' }
            page(problem.title, 'problem', problem: problem)
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
