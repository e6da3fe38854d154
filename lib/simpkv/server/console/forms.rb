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
        # The parameter that names the notice of what a form has done, and the seconds for which a page shows it.
        NOTICE = 'notice'
        NOTICE_SECONDS = 60
        private_constant :SECRET, :NOTICE, :NOTICE_SECONDS

        # @return [String] the token of the caller's forms. It is valid until the service ends
        def token
          signature
        end

        # @return [String] HTML: the field with the token, for the begin of each form that is sent with POST
        def token_field
          %(<input type="hidden" name="#{TOKEN}" value="#{token}">)
        end

        # {Gate} has checked the origin.
        #
        # @return [void]
        # @raise [Problem] 403, or 400 if the form cannot be read
        def check_form
          given = sent_fields[TOKEN].to_s
          return if Gate.own_site?(env) && OpenSSL.secure_compare(given, token)

          raise Problem.new(403, 'this form does not come from a page of this service, or the service has started ' \
                                 'anew since: go back, load the page again, and repeat what you have done. Nothing ' \
                                 'was changed')
        end

        # Leads the browser to a page with a notice of what a form has done. Others cannot make such an address.
        #
        # @param address [String]
        # @param name [String] of the notice
        # @return [void]
        def go_with_notice(address, name)
          time = Time.now.to_i.to_s
          mark = [name, time, signature(name, time, address)].join('.')
          go_to("#{address}#{address.include?('?') ? '&' : '?'}#{NOTICE}=#{mark}")
        end

        # Takes the notice out of the address, so that no link of the page has it.
        #
        # @return [String, nil] the name of the notice that a form of the caller has just led to; nil for none
        def take_notice
          name, time, signature = given(NOTICE).split('.')
          request.GET.delete(NOTICE)
          return unless signature && OpenSSL.secure_compare(signature, signature(name, time, address(request.GET)))

          name if Time.now.to_i - time.to_i <= NOTICE_SECONDS
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

        # @param name [String] of a field
        # @return [String] what the person has entered; empty for nothing
        # @raise [Problem] it is no text
        def field(name)
          value = request.POST[name]
          return value.to_s if value.nil? || (value.is_a?(String) && utf8?(value))

          raise Problem.new(400, "the field '#{name}' must be a text in UTF-8")
        end

        # @param name [String] of a field
        # @return [Integer] as {Html#number}
        # @raise [Problem] it is no whole number of this range
        def number_field(name, default, range)
          whole(field(name), "the field '#{name}'", default, range)
        end
      end
    end
  end
end
