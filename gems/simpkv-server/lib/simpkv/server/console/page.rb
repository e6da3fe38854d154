# frozen_string_literal: true

require 'forwardable'
require 'simpkv/server/console/html'
require 'simpkv/server/console/layout'
require 'simpkv/server/console/parts'
require 'simpkv/server/console/views'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Console
      # A page: asks the API, and shows the answer with a template, which calls the methods of the page. Its `show`
      # answers the request for it, and `submit` the form that comes from it. Both return HTML.
      class Page
        extend Forwardable
        include Html
        include Parts
        include Views

        # What the API raises.
        ERRORS = [Problem, Error, ConfigError].freeze

        # @param visit [Visit]
        def initialize(visit)
          @visit = visit
        end

        def_delegators :@visit, :api, :caller, :form, :given, :go_to, :go_with_notice, :here, :notice, :number,
                       :parameter, :response, :take

        private

        # @param title [String]
        # @param template [String] the name of a file in `views`
        # @param refresh [Integer, nil] see {Layout}
        # @param copy [String, nil] see {Layout}
        # @param locals [Hash{Symbol => Object}] for the template
        # @return [String] HTML
        def page(title, template, refresh: nil, copy: nil, **locals)
          content = render(template, locals: locals)
          response['retry-after'] = Problem::RETRY_AFTER if response.status == 503
          Layout.new(@visit, title, refresh: refresh, copy: copy).html(content)
        end

        # @return [String] HTML: the field with the token, for the begin of each form that is sent with POST
        def token_field
          %(<input type="hidden" name="#{Form::TOKEN}" value="#{form.signature}">)
        end
      end
    end
  end
end
