# frozen_string_literal: true

require 'simpkv/server/console/section'
require 'simpkv/server/console/session/pages'

module Simpkv
  module Server
    module Console
      # Who a person is for the service, and what that person may do: /session; and how people without a client
      # certificate sign in and out.
      class Session < Section
        # The only page for somebody without credentials.
        SIGN_IN = '/session/sign-in'

        route do |r|
          r.is(['', true]) do
            at('/session')
            r.get { CallerPage.new(visit).show }
          end
          r.is('sign-in') do
            at(SIGN_IN)
            r.get { SignInPage.new(visit).show }
            r.post { SignInPage.new(visit).submit }
          end
          r.is('sign-out') do
            at('/session/sign-out')
            r.post { SignOut.new(visit).submit }
          end
        end
      end
    end
  end
end
