# frozen_string_literal: true

require 'openssl'
require 'rack'
require 'securerandom'
require 'simpkv/server/gate'
require 'simpkv/server/nameless_file'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Console
      # A form that changes something. A page of another site could send one with the certificate of a person who looks
      # at it: so a form has a token that only a page of this process can have for this caller, and browsers say where
      # it comes from.
      class Form
        # The field with the token.
        TOKEN = '_token'
        SECRET = SecureRandom.bytes(32)
        private_constant :SECRET

        # @param data [Object] of Rack
        # @return [Boolean] whether all texts of it are UTF-8, so that pages can show them and compare with them
        def self.utf8?(data)
          case data
          when String then data.encoding == Encoding::UTF_8 && data.valid_encoding?
          when Enumerable then data.to_a.flatten.all? { |member| utf8?(member) }
          else true
          end
        end

        # @param text [String] that a person has given
        # @param title [String] what it is, for the message
        # @param default [Integer]
        # @param range [Range<Integer>]
        # @return [Integer] it; the default if it is empty
        # @raise [Problem] it is no whole number of this range
        def self.whole(text, title, default, range)
          return default if text.empty?

          Coercion.convert(range, text) || raise(Problem.new(400, "#{title} must be #{Coercion.needed(range)}"))
        end

        # @param request [Rack::Request]
        def initialize(request)
          @request = request
          @file = NamelessFile.new(request.env)
        end

        # {Gate} has checked the origin.
        #
        # @return [void]
        # @raise [Problem] 403, or 400 if the form cannot be read
        def check
          token = fields[TOKEN].to_s
          return if Gate.own_site?(@request.env) && signed?(token)

          raise Problem.new(403, 'this form does not come from a page of this service, or the service has started ' \
                                 'anew since: go back, load the page again, and repeat what you have done. Nothing ' \
                                 'was changed')
        end

        # @param name [String] of a field
        # @return [String] what the person has entered; empty for nothing
        # @raise [Problem] it is no text
        def [](name)
          value = @request.POST[name]
          return value.to_s if value.nil? || (value.is_a?(String) && self.class.utf8?(value))

          raise Problem.new(400, "the field '#{name}' must be a text in UTF-8")
        end

        # @param name [String] of a field
        # @return [Integer] as {whole}
        # @raise [Problem] it is no whole number of this range
        def number(name, default, range)
          self.class.whole(self[name], "the field '#{name}'", default, range)
        end

        # @param name [String] of a field
        # @return [Boolean]
        def key?(name)
          @request.POST.key?(name)
        end

        # @param name [String] of a field
        # @return [String] the content of the file, which may be no UTF-8; empty for none
        def file(name)
          @request.POST[name].is_a?(Hash) ? @content : ''
        end

        # @param texts [Array<String>]
        # @return [String] a signature of the texts for the caller, which only this process can make. That of no text is
        #   the token of the caller's forms. It is valid until the service ends
        def signature(*texts)
          caller = @request.env.fetch(Gate::CALLER)
          who = [caller.kind, caller.name, caller.session&.key&.unpack1('H*')]
          OpenSSL::HMAC.hexdigest('SHA256', SECRET, [*who, *texts].join("\0"))
        end

        # @return [Boolean] whether this is the {#signature} of the texts
        def signed?(signature, *texts)
          OpenSSL.secure_compare(signature, signature(*texts))
        end

        private

        # Rack raises the last two at a part without a name, and at one in UTF-16. It closes no file that it has made.
        def fields
          fields = @request.POST
          malformed if fields.empty? && @request.media_type == 'multipart/form-data'
          fields
        rescue Rack::BadRequest, ArgumentError, EOFError, NoMethodError, EncodingError
          malformed
        ensure
          @content = @file.take
        end

        def malformed
          raise Problem.new(400, 'malformed form: nothing was changed'), cause: nil
        end
      end
    end
  end
end
