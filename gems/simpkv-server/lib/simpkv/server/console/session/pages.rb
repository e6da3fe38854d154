# frozen_string_literal: true

require 'simpkv/server/console/section'
require 'simpkv/server/credentials'

module Simpkv
  module Server
    module Console
      class Session < Section
        # Who the person is, and what that person may do.
        class CallerPage < Page
          # How the service knows a caller, by its kind.
          KINDS = { 'user' => 'as a local user, on a Unix socket', 'local' => 'as a process of this machine',
                    'certname' => 'by a client certificate', 'account' => 'by a sign-in with the directory',
                    'token' => 'by a token' }.freeze
          private_constant :KINDS

          # @return [String] HTML
          def show
            found = api.get('/v1/whoami')
            page('You', 'session/caller', found: found, how: KINDS.fetch(found['kind']), session: caller.session)
          end
        end

        # The form for a name and a password.
        class SignInPage < Page
          # Attributes of the cookie, whose name asks for the first two.
          COOKIE = 'Secure; Path=/; HttpOnly; SameSite=Strict'
          # A path of this service. A browser takes // and /\ for another host.
          PATH = %r{\A/(?![/\\])[^[:cntrl:]]*\z}.freeze
          # The characters of a name that the form has again after a refusal.
          NAME = 255
          private_constant :PATH, :NAME

          # @return [String, nil] HTML
          def show
            return leave unless caller.kind == :nobody

            view(nil)
          end

          # @return [String, nil] HTML
          def submit
            return leave unless caller.kind == :nobody

            check_origin
            @entered = form['name']
            cookie = @visit.sign_in.call(@entered, form['password'], @visit.client)
            response['set-cookie'] = "#{Credentials::COOKIE}=#{cookie}; #{COOKIE}"
            leave
          rescue Problem, Error => e
            refused(Problem.of(e))
          end

          private

          # @return [void]
          def leave
            go_to(target)
          end

          # @return [String] where the person wanted to go
          def target
            given('to').match?(PATH) ? given('to') : '/'
          end

          # @return [String] HTML
          def view(problem)
            page('Sign in', 'session/sign_in', problem: problem, to: target, out: given('out') == 'true',
                                               name: @entered.to_s[0, NAME])
          end

          def refused(problem)
            response.status = problem.status
            problem.headers.slice('retry-after').each { |name, value| response[name] = value }
            view(problem)
          end

          # Everybody can have the token of this form: another site must not sign a person in as somebody else.
          def check_origin
            env = @visit.request.env
            return if env['HTTP_ORIGIN'] || env['HTTP_SEC_FETCH_SITE'] == 'same-origin'

            raise Problem.new(403, 'the browser does not say that this form comes from a page of this service')
          end
        end

        # Ends a session.
        class SignOut < Page
          # @return [void]
          def submit
            @visit.sign_in.end(caller.session, @visit.client) if caller.session
            response['set-cookie'] = "#{Credentials::COOKIE}=; Max-Age=0; #{SignInPage::COOKIE}"
            go_to("#{Session::SIGN_IN}?out=true")
          end
        end
      end
    end
  end
end
