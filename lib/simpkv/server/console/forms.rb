# frozen_string_literal: true

require 'openssl'
require 'securerandom'

module Simpkv
  module Server
    class Console < Roda
      # Forms that change something. A page of another site could send one with the certificate of a person who looks at
      # it: so a form has a token that only a page of this process can have for this caller, and browsers say where it
      # comes from. There are no cookies.
      module Forms
        # The field with the token.
        TOKEN = '_token'
        SECRET = SecureRandom.bytes(32)
        # The parameter that says what a form has done, and the seconds for which a page repeats it.
        DONE = 'done'
        CONFIRMED = 60
        private_constant :SECRET, :DONE, :CONFIRMED

        # @return [String] the token of the caller's forms. It is valid until the service ends
        def token
          signature
        end

        # @return [String] HTML: the field with the token, for the begin of each form that is sent with POST
        def token_field
          %(<input type="hidden" name="#{TOKEN}" value="#{token}">)
        end

        # @return [void]
        # @raise [Problem] 403, or 400 if the form cannot be read
        def check_form
          origin = env['HTTP_ORIGIN']
          site = env['HTTP_SEC_FETCH_SITE']
          given = sent_fields[TOKEN].to_s
          return if [nil, own_origin].include?(origin) && [nil, 'same-origin', 'none'].include?(site) &&
                    OpenSSL.secure_compare(given, token)

          raise Problem.new(403, 'this form does not come from a page of this service, or the service has started ' \
                                 'anew since: go back, load the page again, and repeat what you have done. Nothing ' \
                                 'was changed')
        end

        # Leads the browser to a page that says what a form has done. Others cannot make such an address.
        #
        # @param address [String]
        # @param deed [String] a word
        # @return [void]
        def confirm(address, deed)
          time = Time.now.to_i.to_s
          mark = [deed, time, signature(deed, time, address)].join('.')
          go_to("#{address}#{address.include?('?') ? '&' : '?'}#{DONE}=#{mark}")
        end

        # Takes the mark out of the address, so that no link of the page has it.
        #
        # @return [String, nil] the word for what a form of the caller has just done; nil for nothing
        def confirmed
          deed, time, signature = given(DONE).split('.')
          request.GET.delete(DONE)
          return unless signature && OpenSSL.secure_compare(signature, signature(deed, time, address(request.GET)))

          deed if Time.now.to_i - time.to_i <= CONFIRMED
        end

        private

        # @return [String] of texts for the caller; only this process can make it
        def signature(*texts)
          caller = env.fetch(Gate::CALLER)
          OpenSSL::HMAC.hexdigest('SHA256', SECRET, [caller.kind, caller.name, *texts].join("\0"))
        end

        # Rack raises the last two at a part without a name, and at one in UTF-16.
        def sent_fields
          fields = request.POST
          malformed if fields.empty? && request.media_type == 'multipart/form-data'
          fields
        rescue Rack::BadRequest, ArgumentError, EOFError, NoMethodError, EncodingError
          malformed
        end

        def malformed
          raise Problem.new(400, 'malformed form: nothing was changed'), cause: nil
        end

        def own_origin
          "#{env['rack.url_scheme']}://#{env['HTTP_HOST']}"
        end

        # @param name [String] of a field
        # @return [String] what the person has entered; empty for nothing
        # @raise [Problem] it is no text
        def field(name)
          value = request.POST[name]
          return value.to_s if value.nil? || (value.is_a?(String) && utf8?(value))

          raise Problem.new(400, "the field '#{name}' must be a text in UTF-8")
        end
      end
    end
  end
end
