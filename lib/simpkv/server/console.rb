# frozen_string_literal: true

require 'digest/sha2'
require 'roda'
require 'simpkv/server/console/api'
require 'simpkv/server/console/forms'
require 'simpkv/server/console/html'
require 'simpkv/server/console/parts'
require 'simpkv/server/console/rows'
require 'simpkv/server/observation'
require 'simpkv/server/problem'

module Simpkv
  module Server
    # Pages for people, which need no script to be read. The console knows the store only by the API, which it asks as
    # the caller of the page: nobody sees or changes here what the API would refuse.
    #
    # Each file of the folder `console` adds the pages below a path. `views` has their templates, in which Erubi escapes
    # what is not marked as HTML.
    class Console < Roda
      FOLDER = File.expand_path('console', __dir__)
      # Type and content of the files in `assets`, by name.
      ASSETS = { 'console.css' => 'text/css', 'console.js' => 'text/javascript', 'icon.svg' => 'image/svg+xml' }
               .to_h { |name, type| [name, [type, File.read(File.join(FOLDER, 'assets', name))]] }.freeze
      # Changes with these files, so that browsers may keep them.
      STAMP = Digest::SHA256.hexdigest(ASSETS.values.join)[0, 12]
      HEADERS = {
        'content-type' => 'text/html; charset=utf-8',
        'content-security-policy' =>
          "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " \
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        'cross-origin-opener-policy' => 'same-origin', 'cross-origin-resource-policy' => 'same-origin',
        # With no-referrer, the Origin of a form would be null, which stands for pages of other sites, too.
        'referrer-policy' => 'same-origin'
      }.freeze
      # The pages of the menu, by path.
      MENU = { '/' => 'Overview', '/nodes' => 'Nodes', '/facts' => 'Facts', '/resources' => 'Resources',
               '/query' => 'Query', '/keys/' => 'Keys', '/rules' => 'Rules', '/access' => 'Access' }.freeze
      # A key of the environment of Rack: the {Problem} of a request that is refused before it comes to a page.
      REFUSED = 'simpkv.refused'
      # Of requests that pages take.
      METHODS = %w[GET HEAD POST].freeze
      private_constant :FOLDER, :ASSETS, :HEADERS, :MENU, :METHODS

      include Forms
      include Html
      include Parts
      include Rows

      plugin :default_headers, HEADERS
      plugin :error_handler, classes: [Problem, Error, ConfigError] do |error|
        refuse(Problem.of(error))
      end
      plugin :hash_branches
      plugin :head
      plugin :render, escape: true, engine: 'erb', views: File.join(FOLDER, 'views')
      plugin :status_handler

      status_handler(404) { refuse(Problem.new(404, "there is no page #{request.path_info}")) }

      # @param gate [Gate] of the API
      # @return [#call] the application of Rack
      def self.application(gate)
        pages = Class.new(self)
        pages.opts[:gate] = gate
        pages.freeze.app
      end

      route do |r|
        raise env[REFUSED] if env[REFUSED]

        check_method
        check_parameters
        check_form if r.post?
        leave_slash unless r.post?
        @notice = take_notice
        r.root { overview }
        r.hash_branches('')
      end

      hash_branch('', 'console') do |r|
        r.is(ASSETS.keys) do |name|
          at('/console/{asset}')
          type, content = ASSETS.fetch(name)
          response['content-type'] = type
          response['cache-control'] = 'private, max-age=31536000, immutable' if r.params['v'] == STAMP
          content
        end
        r.is('wall') { r.get { wall } }
      end

      private

      # @raise [Problem] 405
      def check_method
        method = request.request_method
        return if METHODS.include?(method)

        raise Problem.new(405, "pages do not take #{method}: scripts use the API, below /v1",
                          headers: { 'allow' => METHODS.join(', ') })
      end

      # @raise [Problem] the query of the address cannot be read, or is not UTF-8
      def check_parameters
        malformed_query unless utf8?(request.GET)
      rescue Rack::BadRequest, ArgumentError
        malformed_query
      end

      def malformed_query
        raise Problem.new(400, 'malformed query'), cause: nil
      end

      # @param data [Object] of Rack
      # @return [Boolean] whether all texts of it are UTF-8, so that pages can show them and compare with them
      def utf8?(data)
        case data
        when String then data.encoding == Encoding::UTF_8 && data.valid_encoding?
        when Enumerable then data.to_a.flatten.all? { |member| utf8?(member) }
        else true
        end
      end

      # A page has one address. Only those of folders of keys have a slash at their end.
      def leave_slash
        segments = env.fetch(Gate::SEGMENTS)
        return if segments.empty? || segments.first == 'keys' || !request.path_info.end_with?('/')

        query = request.query_string
        request.redirect("#{Api.path(*segments)}#{"?#{query}" unless query.empty?}", 301)
      end

      # @return [Api] the API, asked as the caller of the page
      def api
        @api ||= Api.new(opts.fetch(:gate), env)
      end

      # Names the page for metrics, as {Application#at}.
      def at(pattern)
        env[Observation::ROUTE] = pattern
      end

      # @return [Hash{String => String}] the names of the pages of the menu, by path
      def menu
        MENU
      end

      # @return [String] of simpkv
      def version
        VERSION
      end

      # @return [String] the id of the request in the log
      def request_id
        env.fetch(Observation::ID)
      end

      # @return [Caller]
      def caller
        env.fetch(Gate::CALLER)
      end

      # @return [Caller, nil] who the page names as its reader; nil if the request may come from a page of another site
      def reader
        caller unless env[REFUSED]
      end

      # @param path [String] of the menu
      # @return [Boolean] whether the page is below it
      def current?(path)
        path == '/' ? request.path_info == '/' : request.path_info.start_with?(path)
      end

      # @param title [String]
      # @param template [String] the name of a file in `views`
      # @param locals [Hash{Symbol => Object}] for the template
      # @return [String] the page
      def page(title, template, **locals)
        @title = title
        response['retry-after'] = Problem::RETRY_AFTER if response.status == 503
        view(template, locals: locals)
      end

      # @param problem [Problem]
      # @return [String] the page that says what is wrong
      def refuse(problem)
        response.status = problem.status
        problem.headers.each { |name, value| response[name] = value unless name == 'content-type' }
        page(problem.title, 'problem', problem: problem)
      end

      # Leads the browser to a page, after a form has changed something.
      #
      # @param path [String]
      # @return [void]
      def go_to(path)
        request.redirect(path, 303)
      end
    end
  end
end

require 'simpkv/server/console/chart'
require 'simpkv/server/console/keys'
require 'simpkv/server/console/overview'
require 'simpkv/server/console/nodes'
require 'simpkv/server/console/access'
require 'simpkv/server/console/rules'
require 'simpkv/server/console/facts'
require 'simpkv/server/console/resources'
require 'simpkv/server/console/query'
